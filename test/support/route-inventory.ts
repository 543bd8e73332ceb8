/**
 * Every route and who may call it; the test of the inventory compares it with the server. A change here changes the public
 * contract. `streams`: it takes files in multipart forms.
 */
const inventory = `
GET    /                                      page_creator
GET    /about                                 page
GET    /admin                                 page_admin
GET    /admin/audit_logs                      page_admin
GET    /admin/custom_css                      page_admin
GET    /admin/custom_css/edit                 page_admin
GET    /admin/dbexplore                       page_admin
GET    /admin/dbexplore/*                     page_admin
GET    /admin/dbexplore/users                 page_admin
GET    /admin/dbexplore/users/*               page_admin
GET    /admin/groups                          page_admin
POST   /admin/groups                          page_admin    changes
GET    /admin/groups/:id                      page_admin
POST   /admin/groups/:id                      page_admin    changes
POST   /admin/groups/:id/delete               page_admin    changes retrieval
POST   /admin/groups/:id/members              page_admin    changes
POST   /admin/groups/:id/members/remove       page_admin    changes
GET    /admin/groups/:id/pushes               page_admin
GET    /admin/groups/:id/rules                page_admin
GET    /admin/groups/:id/presets              page_admin
POST   /admin/groups/:id/presets              page_admin    changes
POST   /admin/groups/:id/presets/delete       page_admin    changes
POST   /admin/groups/:id/rules                page_admin    changes
GET    /admin/groups/:id/tokens               page_admin
POST   /admin/groups/:id/tokens               page_admin    changes
POST   /admin/groups/:id/tokens/revoke        page_admin    changes
GET    /admin/groups/else/rules               page_admin
POST   /admin/groups/else/rules               page_admin    changes
GET    /admin/jobs                            page_admin
GET    /admin/jobs/*                          page_admin
GET    /admin/look                            page_admin
POST   /admin/look/accent                     page_admin    changes
POST   /admin/look/accent/reset               page_admin    changes
POST   /admin/look/logo                       page_admin    changes streams
POST   /admin/look/logo/reset                 page_admin    changes
POST   /admin/look/name                       page_admin    changes
POST   /admin/look/name/reset                 page_admin    changes
POST   /admin/look/style                      page_admin    changes
POST   /admin/look/style/reset                page_admin    changes
POST   /admin/jobs/retry_deletions            page_admin    changes
POST   /admin/jobs/retry_emails               page_admin    changes
GET    /manifest.webmanifest                  public
POST   /share                                 page_creator
POST   /theme                                 page          changes
GET    /admin/mails                           page_admin
POST   /admin/mails/:id/discard               page_admin    changes
POST   /admin/mails/:id/retry                 page_admin    changes
GET    /admin/presets                         page_admin
POST   /admin/presets                         page_admin    changes
POST   /admin/presets/delete                  page_admin    changes
GET    /admin/pushes                          page_admin
GET    /admin/pushes/:id                      page_admin
POST   /admin/pushes/:id/delete               page_admin    changes retrieval
POST   /admin/pushes/:id/expire               page_admin    changes retrieval
GET    /admin/pushes/end                      page_admin
POST   /admin/pushes/end                      page_admin    changes retrieval
GET    /admin/pushes/find                     page_admin
POST   /admin/pushes/find                     page_admin    changes
GET    /admin/rules                           page_admin
POST   /admin/rules                           page_admin    changes
GET    /admin/sessions                        page_admin
POST   /admin/sessions/end                    page_admin    changes
GET    /admin/settings                        page_admin
POST   /admin/sign_up                         page_admin    changes
GET    /admin/trail                           page_admin
GET    /admin/users                           page_admin
POST   /admin/users                           page_admin    changes
GET    /admin/users/:id                       page_admin
GET    /admin/users/:id/edit                  page_admin
POST   /admin/users/:id/ask_email             page_admin    changes
POST   /admin/users/:id/change_email          page_admin    changes
POST   /admin/users/:id/confirm               page_admin    changes
POST   /admin/users/:id/delete                page_admin    changes
POST   /admin/users/:id/demote                page_admin    changes
POST   /admin/users/:id/disable               page_admin    changes
POST   /admin/users/:id/enable                page_admin    changes
POST   /admin/users/:id/links/end             page_admin    changes retrieval
POST   /admin/users/:id/promote               page_admin    changes
POST   /admin/users/:id/reset_factors         page_admin    changes
POST   /admin/users/:id/sessions/end          page_admin    changes
GET    /admin/file_pushes                     page_admin
GET    /admin/passwords                       page_admin
GET    /admin/urls                            page_admin
GET    /admin/users/new                       page_admin
GET    /admin/views                           page_admin
GET    /api                                   public
GET    /api/v1/version                        public
GET    /api/v1/version.json                   public
GET    /api/v2/openapi.json                   api
POST   /api/v2/pushes                         api           changes scope:create streams
GET    /api/v2/pushes/:url_token              api           changes retrieval
DELETE /api/v2/pushes/:url_token              api           changes scope:expire
GET    /api/v2/pushes/:url_token/audit        api_token scope:read
POST   /api/v2/pushes/:url_token/notify_emails api_token changes scope:create
GET    /api/v2/pushes/:url_token/preview      api
GET    /api/v2/pushes/active                  api_token scope:read
GET    /api/v2/pushes/expired                 api_token scope:read
GET    /api/v2/version                        public
GET    /api/sealpush                          public
GET    /api/sealpush/policy                   api          scope:any
GET    /api/sealpush/presets                  api          scope:any
PATCH  /api/sealpush/pushes/:url_token        api_token changes scope:edit streams
GET    /api/sealpush/requests                 api_token scope:read
GET    /requests                              page_session
POST   /requests                              page_requester changes
GET    /requests/new                          page_requester
GET    /requests/:token                       page
POST   /requests/:token                       page          changes streams
GET    /requests/:token/answers               page_requester
POST   /requests/:token/answers               page_requester changes
POST   /requests/:token/close                 page_requester changes
POST   /requests/:token/delete                page_requester changes
POST   /api/sealpush/requests                 api_requester changes scope:create
GET    /api/sealpush/requests/:url_token      public
POST   /api/sealpush/requests/:url_token      public        changes streams
DELETE /api/sealpush/requests/:url_token      api_requester changes scope:expire
GET    /api/sealpush/requests/:url_token/answers api_requester scope:read
POST   /api/sealpush/requests/:url_token/close api_requester changes scope:expire
GET    /api_tokens                            public
GET    /apple-touch-icon-precomposed.png      public
GET    /apple-touch-icon.png                  public
GET    /assets/:name                          public
GET    /branding/:filename                    public
GET    /f                                     public
POST   /f.json                                api           changes scope:create streams
GET    /f/:token                              public
GET    /f/:token/audit                        public
GET    /f/:token/edit                         public
GET    /f/:token/passphrase                   public
GET    /f/:token/preview                      public
GET    /f/:token/print_preview                public
GET    /f/:token/r                            public
GET    /f/:token/r/preview                    public
GET    /f/:url_token.json                     api           changes retrieval
DELETE /f/:url_token.json                     api           changes scope:expire
GET    /f/:url_token/audit.json               api_token scope:read
GET    /f/:url_token/preview.json             api
GET    /f/active                              public
GET    /f/active.json                         api_token scope:read
GET    /f/expired                             public
GET    /f/expired.json                        api_token scope:read
GET    /f/new                                 public
GET    /favicon.ico                           public
GET    /feedbacks                             public
GET    /feedbacks/new                         public
GET    /files/:ticket                         public
GET    /files/:ticket/view                    public
GET    /files/zip/:tickets                    public
GET    /first_run                             page_entry
POST   /first_run                             page_entry    changes
GET    /groups/:id                            page_session
GET    /groups/:id/members/:member            page_session
GET    /groups/:id/members/:member/pushes/:push page_session
GET    /help/api                              page
GET    /madmin                                page_admin
GET    /madmin/*                              page_admin
GET    /madmin/users                          page_admin
GET    /madmin/users/*                        page_admin
GET    /p                                     page_session
POST   /p                                     page_creator  changes streams
OPTIONS /p.json                               public
POST   /p.json                                api           changes scope:create streams
GET    /p/:token                              page          retrieval
POST   /p/:token                              page          changes retrieval
GET    /p/:token/another                      page_session
GET    /p/:token/audit                        page_session
GET    /p/:token/audit/download               page_session
GET    /p/:token/edit                         page_session
POST   /p/:token/edit                         page_session  changes streams
POST   /p/:token/expire                       page          changes retrieval
POST   /p/:token/notify_emails                page_session  changes
GET    /p/:token/passphrase                   public
GET    /p/:token/preview                      page
GET    /p/:token/preview/opened               page_session
GET    /p/:token/preview/qr                   page
GET    /p/:token/print_preview                public
GET    /p/:token/r                            page          retrieval
POST   /p/:token/r                            page          changes retrieval
GET    /p/:token/r/preview                    page
POST   /pushes/delete                         page_session  changes retrieval
GET    /p/:url_token.json                     api           changes retrieval
DELETE /p/:url_token.json                     api           changes scope:expire
GET    /p/:url_token/audit.json               api_token scope:read
GET    /p/:url_token/preview.json             api
GET    /p/active                              public
GET    /p/active.json                         api_token scope:read
GET    /p/expired                             public
GET    /p/expired.json                        api_token scope:read
GET    /p/new                                 page_creator
GET    /pfb/*                                 public
GET    /rails/active_storage/*                public
GET    /pages/:page                             public
GET    /pages/about                           public
GET    /pages/api                             public
GET    /r                                     public
POST   /r.json                                api           changes scope:create streams
GET    /r/:token                              public
GET    /r/:token/audit                        public
GET    /r/:token/edit                         public
GET    /r/:token/passphrase                   public
GET    /r/:token/preview                      public
GET    /r/:token/print_preview                public
GET    /r/:token/r                            public
GET    /r/:token/r/preview                    public
GET    /r/:url_token.json                     api           changes retrieval
DELETE /r/:url_token.json                     api           changes scope:expire
GET    /r/:url_token/audit.json               api_token scope:read
GET    /r/:url_token/preview.json             api
GET    /r/active                              public
GET    /r/active.json                         api_token scope:read
GET    /r/expired                             public
GET    /r/expired.json                        api_token scope:read
GET    /r/new                                 public
GET    /ready                                 public
GET    /robots.txt                            public
GET    /scripts.json                          public
GET    /up                                    public
GET    /user/two_factor                       public
GET    /user/two_factor/backup_codes          public
GET    /user/two_factor/verify                public
GET    /users                                 public
POST   /users/auth/oidc                       page_entry    changes
POST   /users/auth/oidc/backchannel-logout    public        changes
OPTIONS /uploads                              page_creator
POST   /uploads                               page_creator  changes
DELETE /uploads/:upload                       page_creator  changes
PATCH  /uploads/:upload                       page_creator  changes
GET    /users/auth/oidc/callback              page          retrieval
GET    /users/auth/oidc/confirm               page_entry
POST   /users/auth/oidc/confirm               page_entry    changes
POST   /users/auth/oidc/confirm/mail          page_entry    changes
GET    /users/break_glass                     page_entry
POST   /users/break_glass                     page_entry    changes
GET    /users/cancel                          public
GET    /users/confirmation                    page_entry
POST   /users/confirmation                    page_entry    changes
GET    /users/confirmation/new                page_entry
POST   /users/confirmation/new                page_entry    changes
GET    /users/confirmation/new_email          page_entry
POST   /users/confirmation/new_email          page_entry    changes
GET    /users/confirmation/new_email/done     page
GET    /users/deleted                         page
GET    /users/edit                            page_session
GET    /users/edit/data                       page_session
POST   /users/edit/defaults                   page_session  changes
POST   /users/edit/delete                     page_session  changes
POST   /users/edit/email                      page_session  changes
POST   /users/edit/email/confirmation         page_session  changes
POST   /users/edit/language                   page_session  changes
POST   /users/edit/password                   page_session  changes
GET    /users/edit/presets                    page_session
POST   /users/edit/presets                    page_session  changes
POST   /users/edit/presets/delete             page_session  changes
POST   /users/edit/sessions/:id/end           page_session  changes
POST   /users/edit/sessions/end_others        page_session  changes
GET    /users/factors                         page_session
GET    /users/factors/authenticator_app       page_session
POST   /users/factors/authenticator_app       page_session  changes
POST   /users/factors/authenticator_app/remove page_session changes
POST   /users/factors/backup_codes            page_session  changes
POST   /users/factors/passkeys                page_session  changes
POST   /users/factors/passkeys/:id/remove     page_session  changes
POST   /users/factors/passkeys/options        page_session  changes
POST   /users/factors/proof/options           page_session  changes
GET    /users/password                        public
GET    /users/password/edit                   page_entry
POST   /users/password/edit                   page_entry    changes
GET    /users/password/new                    page_entry
POST   /users/password/new                    page_entry    changes
GET    /users/second_factor                   page_waiting
POST   /users/second_factor                   page_waiting  changes
POST   /users/second_factor/options           page_waiting  changes
GET    /users/sign_in                         page_entry
POST   /users/sign_in                         page_entry    changes
POST   /users/sign_in/passkey                 page_entry    changes
POST   /users/sign_in/passkey/options         page_entry    changes
GET    /users/sign_out                        page
POST   /users/sign_out                        page          changes
GET    /users/sign_up                         page_entry
POST   /users/sign_up                         page_entry    changes
GET    /users/single_sign_on                  page_session
POST   /users/single_sign_on/again            page_session  changes
GET    /users/single_sign_on/code             page_session
POST   /users/single_sign_on/code             page_session  changes
POST   /users/single_sign_on/link             page_session  changes
POST   /users/single_sign_on/unlink           page_session  changes
GET    /users/token                           page_session
POST   /users/token                           page_session  changes
POST   /users/token/:id/revoke                page_session  changes
GET    /users/unlock                          public
GET    /users/unlock/new                      public
`;

export interface InventoryRow {
  readonly method: string;
  /** With parameters, e.g. `/p/:token`. */
  readonly pattern: string;
  readonly access: string;
  readonly flags: readonly string[];
}

/** API v2 and the requests' API also serve each of these with `.json` appended. */
export const inventoryRows: readonly InventoryRow[] = inventory
  .trim()
  .split("\n")
  .map((row) => {
    const [method = "", pattern = "", access = "", ...flags] = row.split(/\s+/);
    return { method, pattern, access, flags };
  });

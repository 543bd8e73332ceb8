{{/* Refuses values that cannot work before any object is created. */}}
{{- define "sealpush.checks" -}}
{{- $movesIn := hasKey .Values.settings "SEALPUSH_MOVE_IN" -}}
{{- $postgres := hasKey .Values.secretSettings (ternary "SEALPUSH_DATABASE_URL" "DATABASE_URL" $movesIn) -}}
{{- $s3 := eq (toString (get .Values.settings "PWP__FILES__STORAGE")) "s3" -}}
{{- $noFiles := eq (toString (get .Values.settings "PWP__ENABLE_FILE_PUSHES")) "false" -}}
{{- $shared := and .Values.persistence.enabled (eq .Values.persistence.accessMode "ReadWriteMany") -}}
{{- if not .Values.existingSecret -}}
{{- fail "existingSecret is empty: make a Secret with the master key and name it there." -}}
{{- end -}}
{{- if not (hasKey .Values.secretSettings "PWPUSH_MASTER_KEY") -}}
{{- fail "secretSettings.PWPUSH_MASTER_KEY is missing: it names the entry of the Secret that holds the master key." -}}
{{- end -}}
{{- if hasKey .Values.settings "DATABASE_URL" -}}
{{- fail "settings.DATABASE_URL would show its password: put it into the Secret and name the entry in secretSettings." -}}
{{- end -}}
{{- $several := include "sealpush.several" . -}}
{{- if and .Values.autoscaling.enabled (not $postgres) -}}
{{- fail "autoscaling is on, but SQLite serves one process: name a PostgreSQL in secretSettings.DATABASE_URL, or turn it off." -}}
{{- end -}}
{{- if and $several (not $postgres) -}}
{{- fail (printf "replicas is %d, but SQLite serves one process: name a PostgreSQL in secretSettings.DATABASE_URL, or set replicas to 1." (int .Values.replicas)) -}}
{{- end -}}
{{- if and $several (not (or $s3 $noFiles $shared)) -}}
{{- fail "Several replicas need files that all of them reach: set settings.PWP__FILES__STORAGE to s3, give persistence.accessMode ReadWriteMany, or set settings.PWP__ENABLE_FILE_PUSHES to \"false\"." -}}
{{- end -}}
{{- if and (not .Values.persistence.enabled) (not (and $postgres (or $s3 $noFiles))) -}}
{{- fail "persistence is off, and pushes would be lost with the pod: turn it on, or keep the database in PostgreSQL and files in S3." -}}
{{- end -}}
{{- if and $movesIn (not .Values.persistence.enabled) -}}
{{- fail "SEALPUSH_MOVE_IN needs persistence: the master key of this server is in the data folder." -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not (and .Values.baseUrl .Values.trustedProxies)) -}}
{{- fail "The Ingress needs baseUrl, and trustedProxies: without them all visitors share one address and links may carry any host." -}}
{{- end -}}
{{- range .Values.trustedProxies -}}
{{- if and (contains "/" .) (not (regexMatch "/(32|128)$" .)) (not $.Values.networkPolicy.enabled) -}}
{{- fail (printf "trustedProxies has the network %s: each pod in it could claim any client's address. Name single addresses, or enable a networkPolicy that lets only the ingress controller in." .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.backup.enabled (or $postgres (not .Values.persistence.enabled)) -}}
{{- fail "backup is for the embedded database on a volume: with PostgreSQL use its own tools, and set backup.enabled to false." -}}
{{- end -}}
{{- if and .Values.backup.enabled (eq .Values.persistence.accessMode "ReadWriteOncePod") -}}
{{- fail "backup reads the data folder in a pod of its own: set persistence.accessMode to ReadWriteOnce." -}}
{{- end -}}
{{- if and .Values.metrics.enabled (not (hasKey .Values.secretSettings "PWP__METRICS__TOKEN")) -}}
{{- fail "metrics needs secretSettings.PWP__METRICS__TOKEN: it names the entry of the Secret that holds the token." -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.from) -}}
{{- fail "networkPolicy.from is empty, which lets everybody in: name who may connect, or set networkPolicy.enabled to false." -}}
{{- end -}}
{{- $own := dict "PWP__OVERRIDE_BASE_URL" "baseUrl" "PWP__TRUSTED_PROXIES" "trustedProxies" "PWP__SHUTDOWN_GRACE_SECONDS" "shutdownGraceSeconds" "PWP__METRICS__ENABLED" "metrics.enabled" "PWP_PUBLIC_GATEWAY" "publicGateway" "BACKUP_DAYS" "backup.days" -}}
{{- range $name, $value := $own -}}
{{- if hasKey $.Values.settings $name -}}
{{- fail (printf "settings.%s would be there twice: set %s in its place." $name $value) -}}
{{- end -}}
{{- end -}}
{{- range $name, $entry := .Values.secretSettings -}}
{{- if or (hasKey $.Values.settings $name) (hasKey $.Values.settings (printf "%s_FILE" $name)) -}}
{{- fail (printf "%s is in secretSettings already: take it out of settings." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

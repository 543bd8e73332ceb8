import type { ComponentChildren } from "preact";
import { Layout, type LayoutProps } from "./layout.tsx";
import type { IconName } from "./parts/icon.tsx";
import { MessageCard } from "./parts/notice.tsx";

export interface NarrowPageProps extends Omit<LayoutProps, "title" | "width" | "children"> {
  /** The heading by default. */
  readonly title?: string;
  readonly heading: string;
  readonly lead?: ComponentChildren;
  readonly children?: ComponentChildren;
}

interface MessagePageProps extends NarrowPageProps {
  readonly icon: IconName;
}

/** A page that is only a message. */
export function MessagePage({ icon, heading, lead, children, ...layout }: MessagePageProps) {
  return (
    <Layout title={heading} {...layout} width="narrow">
      <MessageCard icon={icon} heading={heading}>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {children}
      </MessageCard>
    </Layout>
  );
}

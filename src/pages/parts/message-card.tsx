import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

export interface MessageCardProps {
  readonly icon: IconName;
  readonly heading: string;
  readonly children: ComponentChildren;
}

/** A page that only says something. */
export function MessageCard({ icon, heading, children }: MessageCardProps) {
  return (
    <div class="card card-centered">
      <div class="emblem emblem-icon">
        <Icon name={icon} />
      </div>
      <h1>{heading}</h1>
      {children}
    </div>
  );
}

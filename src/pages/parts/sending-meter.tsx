import { useMessages } from "../page.ts";
import { Button } from "./buttons.tsx";

/** Shown by scripts while they send files (browser/parts/sending-meter.ts). */
export function SendingMeter() {
  const { files } = useMessages();
  return (
    <div
      class="sending"
      hidden
      data-sending
      data-progress={files.progress({ sent: "{sent}", size: "{size}", rate: "{rate}" })}
      data-broken={files.broken}
    >
      <p class="sending-title">{files.sending}</p>
      <progress aria-label={files.sending} max={1} value={0} />
      <p class="field-hint" data-sending-progress />
      <p role="status" data-sending-state />
      <Button label={files.cancel} data-cancel />
    </div>
  );
}

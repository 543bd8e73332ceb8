import { useMessages } from "../page.ts";

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
      <button type="button" class="button" data-cancel>
        {files.cancel}
      </button>
    </div>
  );
}

/** The same chunks; between two of them a wish to stop is heard. @throws the signal's reason. */
export async function* untilStopped(content: AsyncIterable<Uint8Array>, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    stop.throwIfAborted();
    yield chunk;
  }
}

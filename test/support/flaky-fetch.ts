interface FlakyFetch {
  readonly fetch: typeof fetch;
  /** `GET /path`, of every request that was sent. */
  readonly sent: string[];
}

/** Sends requests to the server, and then loses the answers that `loses` selects. */
export function losingAnswers(loses: (request: string, times: number) => boolean): FlakyFetch {
  const sent: string[] = [];
  return {
    sent,
    fetch: async (input, init) => {
      const request = `${init?.method} ${new URL(String(input)).pathname}`;
      sent.push(request);
      const response = await fetch(input, init);
      if (!loses(request, sent.filter((earlier) => earlier === request).length)) return response;
      await response.body?.cancel();
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
    },
  };
}

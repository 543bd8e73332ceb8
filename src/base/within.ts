/** What `work` gives, or `late` after so many milliseconds. What was started continues, and its result or failure is lost. */
export async function withinMs<Result, Late>(
  ms: number,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  const passed = Promise.withResolvers<void>();
  const timer = setTimeout(passed.resolve, ms);
  try {
    return await Promise.race([work, passed.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The end of commands that run until they are told to stop.
 * @module
 */

/** Resolves when the process is asked to end: Ctrl-C, or SIGTERM as the kubelet sends it. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      process.off('SIGINT', end)
      process.off('SIGTERM', end)
      resolve()
    }
    process.on('SIGINT', end)
    process.on('SIGTERM', end)
  })
}

/**
 * The signals of commands that run until a signal stops them.
 * @module
 */

/** SIGUSR1 reloads in CoreDNS, SIGHUP in most servers. Bun and Node deliver both. */
const RELOAD_SIGNALS = ['SIGHUP', 'SIGUSR1'] as const

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

/**
 * Calls a function at each SIGHUP and SIGUSR1, which otherwise end the process, or open Node's
 * inspector. Returns a function that ends this.
 */
export function onReloadSignal(reload: () => void): () => void {
  for (const signal of RELOAD_SIGNALS) process.on(signal, reload)
  return () => {
    for (const signal of RELOAD_SIGNALS) process.off(signal, reload)
  }
}

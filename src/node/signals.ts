/**
 * Signals of long-running commands.
 * @module
 */

/** SIGUSR1 reloads CoreDNS, SIGHUP most other servers. Node and Bun deliver both. */
const RELOAD_SIGNALS = ['SIGHUP', 'SIGUSR1'] as const

/** Resolves on SIGINT (Ctrl-C) or SIGTERM, which the kubelet sends. */
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
 * Calls a function on SIGHUP and SIGUSR1, which would otherwise end the process or open Node's
 * inspector. Returns a function that removes the handlers.
 */
export function onReloadSignal(reload: () => void): () => void {
  for (const signal of RELOAD_SIGNALS) process.on(signal, reload)
  return () => {
    for (const signal of RELOAD_SIGNALS) process.off(signal, reload)
  }
}

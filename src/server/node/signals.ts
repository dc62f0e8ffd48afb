/**
 * Signals of long-running commands.
 * @module
 */

/** SIGUSR1 reloads CoreDNS, SIGHUP most other servers. Node and Bun deliver both. */
const RELOAD_SIGNALS = ['SIGHUP', 'SIGUSR1'] as const
const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Resolves on the first of some signals: SIGINT (Ctrl-C) or SIGTERM, which the kubelet sends, by
 * default. A second signal ends the process.
 */
export function untilSignal(signals: readonly NodeJS.Signals[] = END_SIGNALS): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const signal of signals) process.off(signal, end)
      resolve()
    }
    for (const signal of signals) process.on(signal, end)
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

/**
 * The lines that CoreDNS writes about a reload, word for word, on standard output as its log:
 * scripts wait for `Reloading complete`, and alerts match the failures.
 * @module
 */
import { escapeControls } from '../../dns/bytes/escape-controls.ts'
import { describeError, type Print } from '../node/output.ts'

/**
 * Prints that a Corefile is in use.
 * @param hash of its text, as in `coredns_reload_version_info`
 */
export function printRunning(print: Print, hash: string): void {
  print(`[INFO] plugin/reload: Running configuration SHA512 = ${hash}`)
}

/** Prints that a Corefile cannot be read. */
export function printUnreadable(print: Print, error: unknown): void {
  print(`[WARNING] plugin/reload: Corefile parse failed: ${reasonOf(error)}`)
}

/** Prints that a Corefile cannot be applied. */
export function printRefused(print: Print, error: unknown): void {
  print(`[ERROR] Restart failed: ${reasonOf(error)}`)
  print(`[ERROR] plugin/reload: Corefile changed but reload failed: ${reasonOf(error)}`)
}

/** Returns the reason on one line, without the name of the program. */
function reasonOf(error: unknown): string {
  const text = describeError(error).replace(/^kubedoh: /, '')
  return escapeControls(text.replaceAll('\n', '; '))
}

/**
 * The `reload` plugin: loads a changed Corefile while serving.
 * @module
 */

import { onlyArgs, parseDuration } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const INTERVAL_MS_DEFAULT = 30_000
const JITTER_MS_DEFAULT = 15_000
const INTERVAL_MS_MIN = 2000
const JITTER_MS_MIN = 1000

/** Configures `reload [INTERVAL [JITTER]]` (default 30s 15s, minimum 2s 1s; jitter 0: none). */
export const reloadPlugin: PluginEntry = {
  name: 'reload',
  counts: 'first',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: '"kubedoh gateway" reloads at SIGHUP, and a Worker with the next deployment',
  },
  isApart: true,
  setup: (directives) => {
    const [interval, jitter] = onlyArgs(directives, 2)
    const intervalMs = interval ? parseDuration(interval) : INTERVAL_MS_DEFAULT
    if (interval !== undefined && intervalMs < INTERVAL_MS_MIN) {
      throw configError(interval, `"${interval.text}" is too short; the minimum is 2s`)
    }
    const wanted = jitter ? parseDuration(jitter) : JITTER_MS_DEFAULT
    if (jitter !== undefined && wanted > 0 && wanted < JITTER_MS_MIN) {
      throw configError(jitter, `"${jitter.text}" is too short; the minimum is 1s`)
    }
    const jitterMs = Math.min(wanted, intervalMs / 2)
    return { features: [{ kind: 'reload', intervalMs, jitterMs }] }
  },
}

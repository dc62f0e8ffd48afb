/**
 * What `kubedoh export` publishes with KUBEDOH_RBAC beside the names: who may read Services where.
 * @module
 */
import { sleep } from '../../cluster/api/backoff.ts'
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import type { ExportSource } from '../../cluster/follow/export-source.ts'
import { RbacWatch } from '../../cluster/follow/rbac-watch.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'

type RbacParts = { readonly log: Log; readonly onChange: () => void }

/**
 * Creates the watch of RBAC; `undefined` without KUBEDOH_RBAC.
 * @param api `undefined` for objects from files
 * @throws {CommandError} if there is no API server to watch
 */
export function createRbac(
  input: Input,
  api: ObjectApi | undefined,
  { log, onChange }: RbacParts,
): RbacWatch | undefined {
  if (input.env('KUBEDOH_RBAC') !== '1') return undefined
  if (api === undefined) {
    throw new CommandError('KUBEDOH_RBAC needs to follow an API server; remove --objects')
  }
  const onWarning = (message: string): void => log({ level: 'warning', message })
  const onError = (message: string): void => log({ level: 'error', message: `RBAC: ${message}` })
  return new RbacWatch({ api, sleep, random: Math.random, elapsed, onChange, onWarning, onError })
}

/** Returns a source that waits for RBAC at the start, runs its watch, and has its state. */
export function withRbac(source: ExportSource, rbac: RbacWatch | undefined): ExportSource {
  if (rbac === undefined) return source
  return {
    ...source,
    states: () => [...source.states(), ...rbac.states()],
    confirmedMs: () => (rbac.isAwaited ? undefined : source.confirmedMs()),
    run: async (signal) => {
      await Promise.all([source.run(signal), rbac.run(signal)])
    },
  }
}

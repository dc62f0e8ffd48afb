/**
 * The flag for the format of a server's log.
 * @module
 */
import type { LogFormat } from '../../dns/telemetry/log.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from './flags.ts'

const FORMATS: readonly LogFormat[] = ['json', 'text', 'coredns']

/** Returns the format; `undefined` for the default of each stream. @throws {CommandError} */
export function formatOf(input: Input): LogFormat | undefined {
  const text = input.text('log-format')
  if (text === '') return undefined
  const found = FORMATS.find((format) => format === text)
  if (found !== undefined) return found
  throw new CommandError(`--log-format is "${text}", expected ${FORMATS.join(', ')}`)
}

/**
 * Options of the `dnssec` plugin.
 * @module
 */

import type { SetupContext } from '../../chain/setup.ts'
import {
  type Option,
  onlyDirective,
  onlyWord,
  options,
  parseCount,
  unknownOption,
  zonesOf,
} from '../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { formatName, isSubdomain } from '../../dns/name.ts'
import type { DnssecHost } from './host.ts'
import { KeyFileError, readKey, type ZoneKey } from './key-file.ts'

/** The options of a `dnssec` directive. */
export type DnssecOptions = {
  readonly zones: readonly Uint8Array[]
  readonly keys: readonly ZoneKey[]
  /** RRsets in the signature cache. */
  readonly capacity: number
  readonly notices: readonly Problem[]
}

const CAPACITY_DEFAULT = 10_000
const CAPACITY_MAX = 10_000_000
const KEYS_MAX = 64

/**
 * Reads `dnssec [ZONE…] { key file KEY…  cache_capacity N }`.
 * @throws {ConfigError} also for an unusable key, or one for none of the zones
 */
export function parseDnssec(
  directives: readonly [Directive, ...Directive[]],
  context: Pick<SetupContext<DnssecHost>, 'host' | 'zones' | 'pathOf'>,
): DnssecOptions {
  const directive = onlyDirective(directives)
  const zones = zonesOf(directive.args, context.zones)
  const keys: ZoneKey[] = []
  let capacity = CAPACITY_DEFAULT
  for (const option of options(directive)) {
    if (option.name === 'cache_capacity') capacity = parseCount(onlyWord(option), 0, CAPACITY_MAX)
    else if (option.name !== 'key') throw unknownOption('dnssec', option, ['key', 'cache_capacity'])
    else for (const word of keyWords(option)) keys.push(loadKey(word, zones, context))
  }
  if (keys.length > KEYS_MAX)
    throw configError(directive, `"dnssec" takes ${KEYS_MAX} keys at most`)
  const notice = problemAt(directive, '"dnssec" without "key" signs nothing')
  return { zones, keys, capacity, notices: keys.length === 0 ? [notice] : [] }
}

function keyWords(option: Option): readonly Word[] {
  const [source, ...words] = option.args
  if (source?.text === 'aws_secretsmanager') {
    const instead = 'put them into files, and name these with "key file"'
    throw configError(source, `keys in AWS Secrets Manager are not supported; ${instead}`)
  }
  if (source?.text !== 'file' || words.length === 0) {
    throw configError(source ?? option, '"key" takes "file" and the names of key files')
  }
  return words
}

function loadKey(
  word: Word,
  zones: readonly Uint8Array[],
  { host, pathOf }: Pick<SetupContext<DnssecHost>, 'host' | 'pathOf'>,
): ZoneKey {
  try {
    const key = readKey(pathOf(word.text.replace(/\.(key|private)$/, '')), host)
    const { owner } = key.record
    if (zones.some((zone) => isSubdomain(zone, owner))) return key
    const names = zones.map((zone) => `"${formatName(zone)}"`).join(', ')
    const message = `key ${key.tag} of "${formatName(owner)}" cannot sign ${names}`
    throw configError(word, `${message}; create one with "dnssec-keygen -a ECDSAP256SHA256 ZONE"`)
  } catch (error) {
    if (error instanceof KeyFileError) throw configError(word, error.message)
    throw error
  }
}

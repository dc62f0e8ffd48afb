/**
 * Finds what makes a gateway without tokens an open resolver.
 * @module
 */
import type { Directive, Line, ServerBlock } from '../../corefile/server-block.ts'
import { parseZones } from '../../corefile/zone-key.ts'
import { equalNames, ROOT } from '../../dns/names/name.ts'

/** Words of an `acl` line that matches every query. */
const ALL: ReadonlySet<string> = new Set(['type', 'net', '*'])

/**
 * Returns the first `forward` that takes every name from every client: of the root zone, in a block
 * without a `view` of clients, and without an `acl` that refuses all clients but some.
 * @param blocks of a Corefile without errors
 */
export function findOpenForward(blocks: readonly ServerBlock[]): Directive | undefined {
  for (const { keys, directives } of blocks) {
    const isForAll = keys.some(({ zone }) => equalNames(zone, ROOT))
    if (!isForAll || hasClientView(directives) || hasClosedAcl(directives)) continue
    const open = directives.find(({ name, args: [from] }) => name === 'forward' && isRoot(from))
    if (open !== undefined) return open
  }
  return undefined
}

function isRoot(word: Directive['args'][number] | undefined): boolean {
  return word !== undefined && parseZones(word.text, word).some((zone) => equalNames(zone, ROOT))
}

function hasClientView(directives: readonly Directive[]): boolean {
  const words = directives
    .filter(({ name }) => name === 'view')
    .flatMap(({ lines }) => lines.flatMap((line) => line.words))
  return words.some(({ text }) => text.includes('client_ip'))
}

/** The first line that matches every query decides for the clients that no line before it has. */
function hasClosedAcl(directives: readonly Directive[]): boolean {
  const last = directives
    .filter(({ name, args }) => name === 'acl' && (args.length === 0 || args.some(isRoot)))
    .flatMap(({ lines }) => lines)
    .find(matchesAll)
  const action = last?.words[0]?.text.toLowerCase()
  return action !== undefined && action !== 'allow'
}

function matchesAll({ words: [, ...rest] }: Line): boolean {
  return rest.every(({ text }) => ALL.has(text.toLowerCase()))
}

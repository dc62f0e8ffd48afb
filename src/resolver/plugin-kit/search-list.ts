/**
 * The search list of a machine (resolv.conf(5)).
 * @module
 */
import { parseName } from '../../dns/names/name.ts'

/** Names in a search list; later ones are ignored. */
const NAMES_MAX = 32

/**
 * Parses the search list in a file's text: names in lower case, absolute. The last line `search` or
 * `domain` counts. Ignores invalid names.
 */
export function parseSearchList(text: string): Uint8Array[] {
  let names: readonly string[] = []
  for (const line of text.split('\n')) {
    const [first, ...rest] = line.trim().split(/\s+/)
    if (first === 'search') names = rest
    else if (first === 'domain') names = rest.slice(0, 1)
  }
  return names.slice(0, NAMES_MAX).flatMap((name) => parseName(name.toLowerCase()) ?? [])
}

/**
 * The zone of a file, from its name: an expression matches the name, and a template names the zone,
 * with `{1}` for the first group and `{name}` for a named one.
 * @module
 */
import { parseName, ROOT } from '../../dns/name.ts'
import type { Match, Pattern } from '../../pattern/pattern.ts'

/** Maps names of files to zones. */
export type OriginRule = { readonly pattern: Pattern; readonly template: string }

/**
 * Returns the zone of a file by its name, in lower case; `undefined` if the name does not match or
 * yields no valid domain name. An empty result is the root, as in CoreDNS.
 */
export function originOfFile(
  { pattern, template }: OriginRule,
  file: string,
): Uint8Array | undefined {
  const match = pattern.exec(file)
  if (match === undefined) return undefined
  const text = expand(template, match, pattern.groupNames).toLowerCase()
  return text === '' ? ROOT : parseName(text)
}

/** Expands a template; unknown groups, and groups without a match, are empty. */
function expand(template: string, { groups }: Match, names: readonly string[]): string {
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const index = /^\d+$/.test(name) ? Number(name) : names.indexOf(name)
    return groups[index] ?? ''
  })
}

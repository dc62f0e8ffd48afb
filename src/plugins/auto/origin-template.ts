/**
 * Which zone a file is of, from its name: an expression, and a template for what it finds, in which
 * `{1}` stands for the first group and `{name}` for one with a name.
 * @module
 */
import { parseName, ROOT } from '../../dns/name.ts'
import type { Match, Pattern } from '../../pattern/pattern.ts'

/** How zones are called after their files. */
export type OriginRule = { readonly pattern: Pattern; readonly template: string }

/**
 * Finds the zone of a file by its name, in lower case; `undefined` when it is of none, or of what
 * is no domain name. A file of nothing is of the root, as in CoreDNS.
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

/** Puts groups in a template; those that there are not, or that have no part, are empty. */
function expand(template: string, { groups }: Match, names: readonly string[]): string {
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const index = /^\d+$/.test(name) ? Number(name) : names.indexOf(name)
    return groups[index] ?? ''
  })
}

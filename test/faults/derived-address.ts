/**
 * The address that upstreams of the fault suite give a name.
 * @module
 */

/** Returns an address that depends on the name: the response to another query shows. */
export function derivedAddress(name: string): string {
  let hash = 7
  for (const letter of name.toLowerCase()) hash = (31 * hash + letter.charCodeAt(0)) & 0xffff
  return `198.18.${hash >> 8}.${hash & 255}`
}

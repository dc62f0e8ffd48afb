/**
 * What may surprise in the issuers of a gateway, but does not stop it.
 * @module
 */
import { type ClaimPatterns, type IssuerConfig, isList } from './issuers.ts'
import { matcherOf } from './text-pattern.ts'

/** Returns a warning for each rule that surprises, with its place below `place`. */
export function adviseOnIssuers(
  issuers: readonly IssuerConfig[],
  place: string,
): readonly string[] {
  return issuers.flatMap(({ issuer, audiences, rules }, i) =>
    rules.flatMap(({ when }, j) => {
      const at = `${place}[${i}].rules[${j}]`
      const { aud = audiences } = when
      const isOpen = fitsAll(when)
      const isForOthers = !isList(aud) || !audiences.some(matcherOf(aud))
      return [
        ...(isOpen ? [`${at} fits every token of ${issuer}: "when" has no pattern but "*"`] : []),
        ...(isForOthers ? [`${at} wants an "aud" that is not one of the audiences`] : []),
      ]
    }),
  )
}

/** Returns whether patterns only demand that claims exist. */
function fitsAll(when: ClaimPatterns): boolean {
  return Object.values(when).every((one) => (isList(one) ? one.includes('*') : fitsAll(one)))
}

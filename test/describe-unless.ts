/**
 * Tests that need something which the machine may lack.
 * @module
 */
import { describe, test } from 'vitest'

/** Like `describe`; if something is missing, reports it as the reason why the tests are skipped. */
export function describeUnless(
  missing: string | false | undefined,
  name: string,
  body: () => void,
): void {
  if (missing === undefined || missing === false) describe(name, body)
  else test(name, ({ skip }) => skip(missing))
}

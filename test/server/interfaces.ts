/**
 * Network interfaces that a test makes up.
 * @module
 */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import type { TestContext } from 'node:test'

/** Addresses by the name of their interface. */
export type Interfaces = Readonly<Record<string, readonly string[]>>

/** Has the machine tell of these interfaces until the test ends. */
export function pretendInterfaces(t: TestContext, current: () => Interfaces): void {
  const mocked = t.mock.method(os, 'networkInterfaces', () =>
    Object.fromEntries(
      Object.entries(current()).map(([name, addresses]) => [
        name,
        addresses.map((address) => ({ address })),
      ]),
    ),
  )
  // Named imports of a built-in module follow only when they are told to.
  syncBuiltinESMExports()
  t.after(() => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
}

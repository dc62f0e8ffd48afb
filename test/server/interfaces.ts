/**
 * Fake network interfaces.
 * @module
 */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { type TestContext, vi } from 'vitest'

/** Addresses by interface name. */
export type Interfaces = Readonly<Record<string, readonly string[]>>

const ANY = { netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null } as const

/** Makes `node:os` report these interfaces until the test ends. */
export function pretendInterfaces(t: TestContext, current: () => Interfaces): void {
  const mocked = vi
    .spyOn(os, 'networkInterfaces')
    .mockImplementation(() =>
      Object.fromEntries(
        Object.entries(current()).map(([name, addresses]) => [
          name,
          addresses.map((address) => ({ ...ANY, address })),
        ]),
      ),
    )
  // Named imports of a built-in module need this to see the change.
  syncBuiltinESMExports()
  t.onTestFinished(() => {
    mocked.mockRestore()
    syncBuiltinESMExports()
  })
}

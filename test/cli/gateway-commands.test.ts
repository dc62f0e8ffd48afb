import assert from 'node:assert/strict'
import { test } from 'vitest'
import { FLAGS } from '../../src/cli/flags/flags.ts'
import { GATEWAY_COMMANDS } from '../../src/cli/gateway-commands.ts'

test('commands of a gateway take secrets from files and variables, not from flags', () => {
  for (const { name, flags = [] } of GATEWAY_COMMANDS) {
    for (const flag of flags) assert.notEqual(FLAGS[flag].value, 'TOKEN', `${name} --${flag}`)
  }
})

import assert from 'node:assert/strict'
import { test } from 'vitest'
import { OPERATOR_COMMANDS } from '../../src/cli/operator-commands.ts'
import { runCli } from './run-cli.ts'

// `stats` asks Cloudflare, `token host` nobody.
const OTHERS: readonly string[] = ['stats', 'token host']
for (const { name, args = [] } of OPERATOR_COMMANDS.filter(({ name }) => !OTHERS.includes(name))) {
  test(`${name} needs a gateway`, async () => {
    const given = args.filter((arg) => !arg.startsWith('[')).map(() => '1')
    const { status, stderr } = await runCli([...name.split(' '), ...given])
    assert.equal(status, 2)
    assert.match(stderr, /--gateway is required/)
  })
}

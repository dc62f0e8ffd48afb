import assert from 'node:assert/strict'
import { test } from 'vitest'
import { FILE_COMMANDS } from '../../src/cli/file-commands.ts'

test('commands for files call no gateway and no API server', () => {
  for (const { name, flags = [] } of FILE_COMMANDS) {
    const remote = flags.filter((flag) => ['gateway', 'kubeconfig', 'server'].includes(flag))
    assert.deepEqual(remote, [], name)
  }
})

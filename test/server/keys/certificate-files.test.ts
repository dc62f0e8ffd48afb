import assert from 'node:assert/strict'
import { onTestFinished, test } from 'vitest'
import { CertificateFiles } from '../../../src/server/keys/certificate-files.ts'

test('tries each content once, and logs what became of it', async () => {
  const state = { used: 'a', file: 'a' }
  const logged: string[] = []
  const read = (): string => {
    if (state.file === '') throw new Error('no such file')
    return state.file
  }
  const files = new CertificateFiles({
    used: () => state.used,
    read,
    renew: (next) => {
      if (next === 'bad') throw new Error('no certificate')
      state.used = next
    },
    log: ({ level, reason }) => logged.push(`${level} ${reason ?? state.used}`),
  })
  onTestFinished(() => files.stop())
  for (const file of ['a', 'bad', 'bad', '', '', 'b', 'b', 'a']) {
    state.file = file
    await files.look()
  }
  assert.deepEqual(logged, ['error no certificate', 'error no such file', 'info b', 'info a'])
})

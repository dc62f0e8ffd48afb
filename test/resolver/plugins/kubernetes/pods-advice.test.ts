import assert from 'node:assert/strict'
import { test } from 'vitest'
import { adviseOn } from '../../../../src/resolver/chain/advice.ts'
import { ALL_PLUGINS } from '../../../../src/resolver/plugins/all-plugins.ts'
import { parseBlocks } from '../../../ask.ts'

test('adviseOnPods warns of forged names for clients of TLS and HTTPS only', () => {
  const warnings = (key: string, mode: string): number[] => {
    const blocks = parseBlocks(`${key} {\n kubernetes cluster.local {\n  pods ${mode}\n }\n}`)
    const found = adviseOn({ blocks, plugins: ALL_PLUGINS, readText: () => undefined })
    return found.filter(({ message }) => message.includes('pods verified')).map(({ line }) => line)
  }
  assert.deepEqual(warnings('tls://.', 'insecure'), [3])
  assert.deepEqual(warnings('tls://.', 'verified'), [])
  assert.deepEqual(warnings('.', 'insecure'), [])
})

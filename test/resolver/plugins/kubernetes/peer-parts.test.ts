import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Plugin } from '../../../../src/resolver/contract/plugin.ts'
import { type PluginEntry, pluginSet } from '../../../../src/resolver/contract/plugin-entry.ts'
import type { Setup } from '../../../../src/resolver/contract/setup.ts'
import { kubernetesForPeersPlugin } from '../../../../src/resolver/plugins/kubernetes/peer-parts.ts'
import { kubernetesPlugin } from '../../../../src/resolver/plugins/kubernetes/setup.ts'
import { block, serve } from '../../../ask.ts'
import { aliases } from './objects.ts'

const LINE = 'kubernetes cluster.local'

/** The plugin that a configuration makes, as a server has it. */
function pluginOf(entry: PluginEntry): Plugin | undefined {
  let made: Plugin | undefined
  const setup: Setup = (directives, context) => {
    const configured = entry.setup(directives, context)
    assert.ok(!('next' in configured))
    made = configured.plugin
    return configured
  }
  const cluster = { objects: aliases({}) }
  serve(block(LINE), { cluster, plugins: pluginSet([{ ...entry, setup }]) })
  return made
}

describe('what other plugins ask of a cluster', () => {
  const parts = ['transfer', 'metadata', 'searchPath'] as const
  for (const part of parts) {
    test(`${part} exists exactly where such plugins do`, () => {
      assert.equal(typeof pluginOf(kubernetesForPeersPlugin)?.[part], 'function')
      assert.equal(pluginOf(kubernetesPlugin)?.[part], undefined)
    })
  }
})

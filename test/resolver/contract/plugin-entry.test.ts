import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY_REPLY } from '../../../src/dns/wire/message.ts'
import type { Host } from '../../../src/resolver/contract/host.ts'
import {
  bindPlugins,
  type PluginEntry,
  pluginSet,
} from '../../../src/resolver/contract/plugin-entry.ts'
import { ALL_PLUGINS, type AllPluginsHost } from '../../../src/resolver/plugins/all-plugins.ts'
import { block, serve } from '../../ask.ts'

/** A host that knows the mood of the machine. */
type MoodHost = Host & { readonly mood: () => string }

/** A plugin as CONTRIBUTING.md describes it: a folder with an entry, and one line in the list. */
const moodPlugin: PluginEntry<MoodHost> = {
  name: 'mood',
  answers: { takesAll: true },
  setup: (_, { host }) => ({
    plugins: [{ name: host.mood(), serve: () => ({ ...EMPTY_REPLY, authoritative: true }) }],
  }),
}

describe('A plugin', () => {
  test('needs an entry and a line in the list', async () => {
    const bound = bindPlugins(pluginSet([moodPlugin]), { mood: () => 'fine' })
    const plugins = pluginSet<AllPluginsHost>([...ALL_PLUGINS.values(), ...bound.values()])
    assert.deepEqual([...plugins.keys()].slice(-2), ['view', 'mood'])
    const server = serve(block('mood', 'errors'), { plugins })
    assert.deepEqual(await server.ask('www.example.org A'), ['NOERROR aa rd'])
  })
})

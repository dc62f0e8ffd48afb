/** What `kubedoh check` reports about Corefiles as people have them, for each place. */
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const ALIKE = {
  kubeadm: 'health ready without pods ttl prometheus loop reload',
  nodelocal:
    'reload loop bind prometheus health reload loop bind prometheus reload loop bind ' +
    'prometheus reload loop bind prometheus',
  'openshift-4': 'health ready without pods prometheus reload',
}

describe('in all three places,', () => {
  for (const [name, differences] of Object.entries(ALIKE)) {
    const check = async (folder: string, target: string): Promise<readonly [number, string[]]> => {
      const path = join(folder, 'Corefile')
      copyFileSync(join(import.meta.dirname, `${name}.Corefile`), path)
      const { status, stderr } = await runCli(['check', path, '--for', target])
      return [status, stderr.replaceAll(`${path}:`, '').split('\n').slice(0, -1)]
    }
    /** The directive, option or first word of each warning about gateways. */
    const wordsOf = (lines: readonly string[]): string =>
      lines.flatMap((line) => /warning: "?(\w+)"?.* gateway/.exec(line)?.[1] ?? []).join(' ')

    test(`${name} works, and each difference is reported`, async (t) => {
      const folder = temporaryFolder(t)
      assert.equal((await check(folder, 'serve'))[0], 0)
      const [atGateway, ofGateway] = await check(folder, 'gateway')
      assert.deepEqual([atGateway, wordsOf(ofGateway)], [0, differences])
      const [atWorker, ofWorker] = await check(folder, 'worker')
      assert.deepEqual([atWorker, wordsOf(ofWorker)], [1, differences])
      const errors = ofWorker.filter((line) => !line.includes('warning: '))
      assert.ok(errors.length > 0)
      for (const line of errors) assert.match(line, /a Worker queries upstreams over https:/)
    })
  }
})

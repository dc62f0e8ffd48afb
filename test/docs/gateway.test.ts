/**
 * docs/gateway.md: its commands make the Secrets that gateway and exporter read, also while keys
 * rotate. kubedoh runs as it is; kubectl stands in, and keeps the folders that it is given.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { ROOT, read } from './pages.ts'

const PAGE = read('docs/gateway.md')
/** Copies each folder of `--from-file` as NAME.1, NAME.2, … */
const KUBECTL = `#!/bin/sh
for word; do
  folder=\${word#--from-file=}
  [ "$folder" != "$word" ] && [ -d "$folder" ] || continue
  turn=1
  while [ -e "$folder.$turn" ]; do turn=$((turn + 1)); done
  cp -r "$folder" "$folder.$turn"
done
if [ "$3" = logs ]; then echo 'reloaded the changed folder of variables'; fi
`
/** Commands that need a gateway do nothing; without one, `cluster rotate` prints the variable. */
const KUBEDOH = `#!/bin/sh
unset KUBEDOH_GATEWAY
case $1 in keys | cluster) exec '${process.execPath}' '${join(ROOT, 'src/cli/run.ts')}' "$@" ;; esac
`

test('docs/gateway.md makes Secrets that fit together, before, while and after keys rotate', async (t) => {
  const folder = temporaryFolder(t)
  const tools = join(folder, 'tools')
  mkdirSync(tools)
  const programs = { kubectl: KUBECTL, kubedoh: KUBEDOH, helm: '#!/bin/sh\n', sleep: '#!/bin/sh\n' }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(tools, name), text, { mode: 0o755 })
  }
  const blocks = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, body = '']) => body)
  const { status, stderr } = spawnSync('sh', ['-ec', blocks.join('')], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${tools}:/usr/bin:/bin`, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  })
  assert.equal(status, 0, stderr)

  const secret = (name: string, key: string): string =>
    readFileSync(join(folder, name, key), 'utf8')
  const hash = (token: string): Promise<string> => sha256Hex(new TextEncoder().encode(token))
  const clusterAt = async (turn: number) => {
    const ADMIN_TOKEN_SHA256 = secret(`gateway.${turn}`, 'ADMIN_TOKEN_SHA256')
    const CLUSTERS = secret(`gateway.${turn}`, 'CLUSTERS')
    const config = await readGatewayConfig({ COREFILE: '. {\n}\n', CLUSTERS, ADMIN_TOKEN_SHA256 })
    return config.clusters.get('prod')
  }
  const before = await hash(secret('exporter.1', 'token'))
  const after = await hash(secret('exporter.2', 'token'))
  const [first, both, last] = await Promise.all([1, 2, 3].map(clusterAt))
  assert.deepEqual(first?.tokenSha256s, [before])
  assert.deepEqual(both?.tokenSha256s, [after, before])
  assert.deepEqual(last?.tokenSha256s, [after])
  assert.notEqual(secret('exporter.1', 'signing-key'), secret('exporter.2', 'signing-key'))
  assert.ok(!existsSync(join(folder, 'exporter.3')))
  // Of an exporter's keys the gateway has none.
  assert.ok(!existsSync(join(folder, 'gateway.3', 'token')))
})

test('docs/gateway.md forwards a port once: kubectl keeps the port of a pod that is gone', () => {
  assert.equal(PAGE.match(/port-forward/g)?.length, 1)
  for (const command of ['kubedoh generations', 'kubedoh backup', 'kubedoh restore']) {
    assert.ok(PAGE.includes(`\nforward\n${command}`), command)
  }
})

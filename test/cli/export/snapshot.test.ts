import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { readSnapshotFolder, writeSnapshotFolder } from '../../../src/cli/export/snapshot.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { MANIFEST_VERSION, type Manifest } from '../../../src/snapshot/format/manifest.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { buildSnapshot } from '../../cluster/follow/whole-snapshot.ts'
import { clusterOf, optionsOf } from '../../cluster/naming.ts'
import { parseRecord } from '../../parse-record.ts'
import { failed, type Ran, runCli } from '../run-cli.ts'
import { shopFolder } from '../shop.ts'

const SMALL_YAML = `kind: Service
metadata: { namespace: shop, name: web }
spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
`

/** Builds the snapshot of a folder's `shop.yaml` into its `out`. */
function build(folder: string, ...flags: readonly string[]): Promise<Ran> {
  const [objects, out] = [join(folder, 'shop.yaml'), join(folder, 'out')]
  return runCli(['snapshot', 'build', '--objects', objects, '--out', out, ...flags])
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(folder, 'out/manifest.json'), 'utf8'))
}

describe('snapshot build', () => {
  test('writes shards that depend only on the objects, and prints a summary', async (t) => {
    const folders = [shopFolder(t), shopFolder(t)]
    const beforeMs = Date.now()
    for (const folder of folders) {
      const { status, stdout, stderr } = await build(folder)
      assert.deepEqual([status, stderr], [0, ''])
      const { records, shards } = manifestOf(folder)
      assert.equal(typeof shards === 'string' && shards.length, 48)
      const bytes = Buffer.from(String(shards), 'base64url').readUInt32LE(32)
      const line = `${folder}/out: ${records} records in 1 shard, ${bytes} bytes\n`
      assert.equal(stdout, line)
    }
    const [one, two] = folders.map((folder) => {
      const { generation, time, ...rest } = manifestOf(folder)
      assert.equal(generation, Math.floor(Date.parse(String(time)) / 1000))
      assert.ok(beforeMs <= Date.parse(String(time)))
      return { rest, files: readdirSync(join(folder, 'out/shards')) }
    })
    assert.deepEqual(one, two)
    assert.equal(one?.rest.cluster, 'cluster')
  })

  test('takes names from a Corefile, and the cluster’s from --cluster', async (t) => {
    const folder = shopFolder(t, {
      Corefile: '. {\n  kubernetes prod.example.org {\n    ttl 7\n  }\n}\n',
    })
    await build(folder, '--conf', join(folder, 'Corefile'), '--cluster', 'prod')
    const { cluster, origins, ttlSeconds } = manifestOf(folder)
    assert.deepEqual([cluster, origins, ttlSeconds], ['prod', ['prod.example.org.'], 7])
  })

  test('takes objects from several files', async (t) => {
    const namespace = 'kind: Namespace\nmetadata: { name: empty }\n'
    const folder = shopFolder(t, { 'more/a.yaml': namespace })
    await build(folder, '--objects', join(folder, 'more'))
    const { stdout } = await runCli(['snapshot', 'dump', join(folder, 'out')])
    // A Namespace among the objects is one that all must have.
    assert.doesNotMatch(stdout, /^web\.shop/m)
    assert.match(stdout, /^cluster\.local\. 30 IN NS /m)
  })

  test('warns about skipped objects, and writes the others', async (t) => {
    const bad = 'kind: Service\nmetadata: { namespace: shop, name: 7 }\n'
    const folder = shopFolder(t, { 'bad.yaml': bad })
    const { status, stderr } = await build(folder, '--objects', join(folder, 'bad.yaml'))
    assert.equal(status, 0)
    assert.match(stderr, /^kubedoh: left out: .*bad\.yaml: .*metadata\.name.*\n$/)
  })

  const refusals: {
    name: string
    files?: Readonly<Record<string, string>>
    flags?: readonly string[]
    line: string
  }[] = [
    {
      name: 'invalid YAML',
      files: { 'shop.yaml': 'kind: Service\nmetadata: [\n' },
      line: 'kubedoh: FOLDER/shop.yaml:3: ',
    },
    {
      name: 'invalid JSON',
      files: { 'shop.json': '{\n  "kind": "Service" } }' },
      flags: ['--objects', 'FOLDER/shop.json'],
      line: 'kubedoh: FOLDER/shop.json:2: ',
    },
    {
      name: 'a missing file',
      flags: ['--objects', 'FOLDER/none.yaml'],
      line: 'kubedoh: FOLDER/none.yaml: no such file or folder',
    },
    {
      name: 'a Corefile that is wrong',
      files: { Corefile: '. {\n  kubernetes cluster.local {\n    ttl x\n  }\n}\n' },
      flags: ['--conf', 'FOLDER/Corefile'],
      line: 'FOLDER/Corefile:3:9: ',
    },
    {
      name: 'a missing Corefile',
      flags: ['--conf', 'FOLDER/none'],
      line: 'kubedoh: Cannot read FOLDER/none: no such file',
    },
    {
      name: 'a cluster that no manifest could name',
      flags: ['--cluster', 'Prod'],
      line: 'kubedoh: --cluster "Prod": use at most 63 characters of a-z, 0-9 and "-"',
    },
  ]
  for (const { name, files, flags = [], line } of refusals) {
    test(`refuses ${name}, in one line, and writes nothing`, async (t) => {
      const folder = shopFolder(t, files)
      const ran = await build(folder, ...flags.map((flag) => flag.replace('FOLDER', folder)))
      assert.deepEqual([ran.status, ran.stdout], [1, ''])
      const stderr = ran.stderr.replaceAll(folder, 'FOLDER')
      assert.equal(stderr.slice(0, line.length), line)
      assert.match(stderr, /^[^\n]+\n$/)
      assert.equal(readdirSync(folder).includes('out'), false)
    })
  }
})

describe('snapshot dump', () => {
  test('prints the records under the first origin', async (t) => {
    const folder = shopFolder(t, { 'shop.yaml': SMALL_YAML })
    await build(folder, '--cluster', 'prod')
    const { generation, time } = manifestOf(folder)
    const { status, stdout, stderr } = await runCli(['snapshot', 'dump', join(folder, 'out')])
    assert.deepEqual([status, stderr], [0, ''])
    const [head, ...lines] = stdout.trimEnd().split('\n')
    assert.equal(head, `; cluster prod, generation ${generation}, ${time}`)
    for (const line of lines) assert.ok(parseRecord(line, nameOf('.')), line)
    assert.deepEqual(lines.sort(), [
      '10.2.0.192.in-addr.arpa. 30 IN PTR web.shop.svc.cluster.local.',
      '_http._tcp.web.shop.svc.cluster.local. 30 IN A 192.0.2.10',
      '_http._tcp.web.shop.svc.cluster.local. 30 IN SRV 0 100 80 web.shop.svc.cluster.local.',
      'cluster.local. 30 IN NS ns.dns.cluster.local.',
      'dns-version.cluster.local. 28800 IN TXT "1.1.0"',
      'ns.dns.cluster.local. 30 IN A 192.0.2.53',
      'web.shop.svc.cluster.local. 30 IN A 192.0.2.10',
      'web.shop.svc.cluster.local. 30 IN SRV 0 100 80 web.shop.svc.cluster.local.',
    ])
  })

  test('reports a folder without a snapshot in one line', async (t) => {
    const folder = temporaryFolder(t)
    assert.deepEqual(
      await runCli(['snapshot', 'dump', folder]),
      failed(`kubedoh: Cannot read ${folder}/manifest.json: no such file`),
    )
  })

  test('reports a damaged snapshot in one line', async (t) => {
    const folder = shopFolder(t)
    await build(folder)
    const [sha256 = ''] = readdirSync(join(folder, 'out/shards'))
    const path = join(folder, 'out/shards', sha256)
    writeFileSync(path, 'damaged')
    assert.deepEqual(
      await runCli(['snapshot', 'dump', join(folder, 'out')]),
      failed(`kubedoh: ${path}: its SHA-256 differs from its name; copy the snapshot again`),
    )
    writeFileSync(join(folder, 'out/manifest.json'), '{ "version": 9 }')
    assert.deepEqual(
      await runCli(['snapshot', 'dump', join(folder, 'out')]),
      failed('kubedoh: Cannot read manifest: version is 9, this build reads 1'),
    )
  })
})

type Written = { readonly folder: string; readonly manifest: Manifest; readonly sha256: string }

/** Writes a snapshot of one Service. */
async function writeOne(
  t: TestContext,
  name = 'web',
  folder = temporaryFolder(t),
): Promise<Written> {
  const service = `{ kind: Service, metadata: { name: ${name} }, spec: { clusterIP: 192.0.2.1 } }`
  const { shards, records, ttlSeconds, origins } = buildSnapshot(
    clusterOf(`[${service}]`),
    optionsOf(),
  )
  const [bytes = new Uint8Array()] = shards
  const sha256 = await sha256Hex(bytes)
  const manifest: Manifest = {
    version: MANIFEST_VERSION,
    cluster: 'shop',
    generation: 7,
    time: '2026-01-01T00:00:00.000Z',
    origins,
    ttlSeconds,
    records,
    sources: {},
    shards: [{ sha256, bytes: bytes.length }],
  }
  await writeSnapshotFolder(join(folder, 'snapshot'), manifest, new Map([[sha256, bytes]]))
  return { folder: join(folder, 'snapshot'), manifest, sha256 }
}

describe('a snapshot in a folder', () => {
  test('reads what it wrote', async (t) => {
    const { folder, manifest, sha256 } = await writeOne(t)
    const read = await readSnapshotFolder(folder)
    assert.deepEqual(read.manifest, manifest)
    assert.deepEqual(await Promise.all(read.shards.map(({ bytes }) => sha256Hex(bytes))), [sha256])
    assert.deepEqual(readdirSync(folder).sort(), ['manifest.json', 'shards'])
    assert.deepEqual(readdirSync(join(folder, 'shards')), [sha256])
  })

  test('is replaced by a newer one', async (t) => {
    const first = await writeOne(t)
    const second = await writeOne(t, 'db', join(first.folder, '..'))
    assert.notEqual(first.sha256, second.sha256)
    assert.deepEqual((await readSnapshotFolder(first.folder)).manifest, second.manifest)
  })

  const damages: {
    name: string
    damage: (written: Written) => void
    error: { name: string; message: RegExp }
  }[] = [
    {
      name: 'without a manifest',
      damage: ({ folder }) => rmSync(join(folder, 'manifest.json')),
      error: { name: 'CommandError', message: /^Cannot read .*\/manifest\.json: no such file$/ },
    },
    {
      name: 'with half a manifest',
      damage: ({ folder }) => {
        const path = join(folder, 'manifest.json')
        writeFileSync(path, readFileSync(path).subarray(0, 100))
      },
      error: { name: 'SnapshotError', message: /^Cannot read manifest: it is not JSON in UTF-8$/ },
    },
    {
      name: 'without a shard',
      damage: ({ folder, sha256 }) => rmSync(join(folder, 'shards', sha256)),
      error: { name: 'CommandError', message: /^Cannot read .*\/[0-9a-f]{64}: no such file$/ },
    },
    {
      name: 'with another byte in a shard',
      damage: ({ folder, sha256 }) => {
        const path = join(folder, 'shards', sha256)
        const bytes = readFileSync(path)
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
        writeFileSync(path, bytes)
      },
      error: {
        name: 'CommandError',
        message: /\/[0-9a-f]{64}: its SHA-256 differs from its name; copy the snapshot again$/,
      },
    },
  ]
  for (const { name, damage, error } of damages) {
    test(`is refused ${name}`, async (t) => {
      const written = await writeOne(t)
      damage(written)
      await assert.rejects(readSnapshotFolder(written.folder), error)
    })
  }

  test('is rejected with an invalid shard of the right name', async (t) => {
    const { folder, manifest } = await writeOne(t)
    const bytes = new TextEncoder().encode('no shard')
    const sha256 = await sha256Hex(bytes)
    const shards = [{ sha256, bytes: bytes.length }]
    await writeSnapshotFolder(folder, { ...manifest, shards }, new Map([[sha256, bytes]]))
    await assert.rejects(readSnapshotFolder(folder), { name: 'SnapshotError' })
  })

  test('reports a folder that cannot be written', async (t) => {
    const folder = temporaryFolder(t, { snapshot: 'a file is in the way' })
    await assert.rejects(writeOne(t, 'web', folder), {
      name: 'CommandError',
      message: /^Cannot write a snapshot to .*\/snapshot: /,
    })
  })

  test('writes the manifest after its shards', async (t) => {
    const folder = temporaryFolder(t)
    const { manifest, sha256 } = await writeOne(t)
    mkdirSync(join(folder, 'shards', sha256), { recursive: true })
    const shards = new Map([[sha256, new Uint8Array(1)]])
    await assert.rejects(() => writeSnapshotFolder(folder, manifest, shards), {
      name: 'CommandError',
    })
    assert.deepEqual(readdirSync(folder), ['shards'])
  })
})

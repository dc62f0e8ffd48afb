import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../exporter/temporary-folder.ts'
import { failed, runCli } from './run-cli.ts'

/** Configurations of other systems, with what they become and what is said of them. */
const FOLDER = join(import.meta.dirname, '../convert/examples')
const OURS: ReadonlySet<string> = new Set(['Corefile', 'notices', 'args'])
const SOURCES = ['openshift', 'kube-dns', 'nodelocal', 'dnsmasq', 'skydns']

function read(folder: string, name: string): string {
  return readdirSync(folder).includes(name) ? readFileSync(join(folder, name), 'utf8') : ''
}

describe('convert', () => {
  for (const name of readdirSync(FOLDER)) {
    const folder = join(FOLDER, name)
    const source = SOURCES.find((one) => name.startsWith(one)) ?? assert.fail(name)
    const files = readdirSync(folder).filter((file) => !OURS.has(file))
    const args = read(folder, 'args')
      .split(/\s+/)
      .filter((word) => word !== '')

    test(`writes the Corefile and its notices: ${name}`, async () => {
      const paths = files.map((file) => join(folder, file))
      const { status, stdout, stderr } = await runCli(['convert', source, ...paths, ...args])
      assert.equal(stdout, readFileSync(join(folder, 'Corefile'), 'utf8'))
      assert.equal(stderr.replaceAll(`${folder}/`, ''), read(folder, 'notices'))
      assert.equal(status, 0)
    })

    test(`writes a valid Corefile: ${name}`, async () => {
      const { status, stderr } = await runCli(['check', join(folder, 'Corefile')])
      assert.equal(status, 0, stderr)
    })
  }

  test('reports missing and invalid files', async (t) => {
    const folder = temporaryFolder(t, { 'a.yaml': 'kind: Pod\n', 'b.conf': 'x y\n' })
    const [a, b] = [join(folder, 'a.yaml'), join(folder, 'b.conf')]
    assert.deepEqual(
      await runCli(['convert', 'openshift', a]),
      failed(
        'kubedoh: no object of kind DNS (operator.openshift.io/v1); ' +
          '"oc get dnses.operator.openshift.io default -o yaml" prints it',
      ),
    )
    assert.deepEqual(
      await runCli(['convert', 'dnsmasq', b]),
      failed(`kubedoh: ${b}:1: "x y" is not an option of dnsmasq`),
    )
    assert.deepEqual(
      await runCli(['convert', 'skydns', '/none/conf']),
      failed('kubedoh: Cannot read /none/conf: no such file'),
    )
    assert.deepEqual(
      await runCli(['convert', 'kube-dns', '/none/map.yaml']),
      failed('kubedoh: /none/map.yaml: no such file or folder'),
    )
  })

  test('reports files of another kind', async (t) => {
    const files = { empty: ' \n', text: 'hello\n', 'b.yaml': 'a: b: c\n', 'folder/x': '' }
    const folder = temporaryFolder(t, files)
    const stderrOf = async (system: string, file: string): Promise<string> => {
      const { status, stderr } = await runCli(['convert', system, join(folder, file)])
      assert.equal(status, 1)
      return stderr.replaceAll(`${folder}/`, '')
    }
    assert.match(await stderrOf('openshift', 'text'), /^kubedoh: no object of kind DNS /)
    assert.match(await stderrOf('nodelocal', 'empty'), /^kubedoh: no Corefile, and no ConfigMap /)
    assert.match(await stderrOf('openshift', 'folder'), /^kubedoh: folder: it is a folder\n$/)
    assert.match(await stderrOf('kube-dns', 'b.yaml'), /^kubedoh: b\.yaml:1: .*[^:]\n$/)
  })

  test('rejects an unused value of --set', async () => {
    const path = join(FOLDER, 'openshift-untouched/dns.yaml')
    assert.deepEqual(
      await runCli(['convert', 'openshift', path, '--set', 'domian=x']),
      failed('kubedoh: --set domian: this conversion has no such value'),
    )
  })

  test('rejects an unknown system', async () => {
    const { status, stderr } = await runCli(['convert', 'bind9', 'named.conf'])
    assert.equal(status, 2)
    assert.match(stderr, /unknown command 'bind9'/)
  })
})

/**
 * The keys that people know from other charts: each is rendered where it belongs, on each component
 * that has pods, and values for coredns/helm are those of the server.
 * @module
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { parse } from 'yaml'
import { NO_FILES } from '../../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { describeUnless } from '../describe-unless.ts'
import type { ApiObject } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { CHART, COREDNS_VALUES, objectsOf, render, VALUES } from './helm.ts'

const binaries = prepareBinaries()

const COMPONENTS = ['server', 'exporter', 'gateway', 'router', 'node-cache']
/** Keys of pods, and those of each value file: a key, what has it, and where. */
type Keys = {
  readonly pods: readonly (readonly [key: string, path: string, value: unknown])[]
  readonly [file: string]: readonly (readonly [string, string, ...unknown[]])[]
}
const { pods: POD_KEYS, ...KEYS }: Keys = parse(
  readFileSync(join(import.meta.dirname, 'keys.yaml'), 'utf8'),
)

/** Values that the chart refuses, and a part of the message. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['server.priorityClass=a', /'priorityClass' not allowed/],
  ['exporter.podLabel.a=b', /'podLabel' not allowed/],
  ['replicasCount=3', /'replicasCount' not allowed/],
  ['servers[0].plugins[0].parameter=a', /'parameter' not allowed/],
  ['server.livenessProbe.period=3', /'period' not allowed/],
  ['rbac.pspEnable=true,replicaCount=1', /rbac\.pspEnable of coredns\/helm has no counterpart/],
  ['service.selector.a=b', /service\.selector of coredns\/helm has no counterpart/],
  [
    'gateway.enabled=true,gateway.follow=https://a.test,gateway.store=s3://names',
    /gateway\.follow and gateway\.store exclude each other/,
  ],
  ['gateway.enabled=true,gateway.replicas=2', /need gateway\.accessModes=\[ReadWriteMany\]/],
  ['server.coredns.custom=true,server.corefile=a.test {}', /import custom\/\*\.override/],
  ['server.service.ipFamilyPolicy=Dual', /ipFamilyPolicy/],
  ['server.logFormat=xml', /logFormat/],
  ['gateway.runtime=deno', /gateway\/runtime/],
]

describeUnless(typeof binaries === 'string' && binaries, 'keys of the chart', () => {
  const rendered = new Map<string, readonly ApiObject[]>()
  const objectsOfFile = (name: string): readonly ApiObject[] => {
    const found = rendered.get(name)
    if (found !== undefined) return found
    const folder = readdirSync(COREDNS_VALUES).includes(`${name}.yaml`) ? COREDNS_VALUES : VALUES
    const { status, stdout, stderr } = render('--values', join(folder, `${name}.yaml`))
    assert.equal(status, 0, stderr)
    const objects = objectsOf(stdout)
    rendered.set(name, objects)
    return objects
  }
  const find = (file: string, object: string) =>
    objectsOfFile(file).find(({ kind, metadata }) => `${kind}/${metadata.name}` === object)
  const workload = (component: string): ApiObject | undefined =>
    find('pod-keys', `Deployment/kubedoh-${component}`) ??
    find('pod-keys', `DaemonSet/kubedoh-${component}`)

  for (const [key, path, value] of POD_KEYS) {
    test(`${key} is in the pods of each component`, () => {
      for (const component of COMPONENTS) {
        const template = Object(workload(component)?.spec).template
        const found = at(template, path.replace('@', 'spec.containers.0'))
        assert.deepEqual(found ?? null, value, component)
      }
    })
  }

  for (const [file, keys] of Object.entries(KEYS)) {
    for (const [key, object, path = '', value] of keys) {
      test(`${file}: ${key} is in ${object}`, () => {
        const from = find(file, object)
        const place = String(path).replace('@', 'spec.template.spec.containers.0')
        assert.deepEqual((path === '' ? from : at(from, place)) ?? null, value)
      })
    }
  }

  for (const [values, message] of REFUSED) {
    test(`refuses ${values}`, () => {
      assert.match(render('--set', values).stderr, message)
    })
  }

  test('all keys of pods are in the value file that is tested', () => {
    const { server } = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
    const names = Object.keys(server)
    const given = parse(readFileSync(join(VALUES, 'pod-keys.yaml'), 'utf8'), { merge: true })
    const missing = names.slice(names.indexOf('extraArgs')).filter((key) => !(key in given.server))
    assert.deepEqual(missing, [])
  })

  for (const file of readdirSync(COREDNS_VALUES).filter((name) => name.endsWith('.yaml'))) {
    test(`the servers of ${file} are the server blocks of the Corefile`, () => {
      const name = file.replace('.yaml', '')
      const { data } = Object(find(name, 'ConfigMap/kubedoh-server'))
      const blocks = parseCorefile(data.Corefile, file, NO_FILES)
      const { servers } = parse(readFileSync(join(COREDNS_VALUES, file), 'utf8'))
      assert.equal(blocks.length, servers.length)
      const plugins = servers.map(({ plugins: list }: { plugins: { name: string }[] }) =>
        list.map((plugin) => plugin.name),
      )
      assert.deepEqual(
        blocks.map(({ directives }) => directives.map((directive) => directive.name)),
        plugins,
      )
    })
  }

  test('coredns.custom imports what coredns-custom has, once, into the block of all names', () => {
    const { data } = Object(find('kube-dns', 'ConfigMap/kubedoh-server'))
    assert.match(data.Corefile, /^\.:53 \{\n {4}import custom\/\*\.override\n/)
    assert.match(data.Corefile, /\}\nimport custom\/\*\.server\n$/)
  })

  for (const name of ['k3s', 'aks']) {
    test(`coredns.custom keeps the Corefile of ${name}, which has these imports`, () => {
      const path = join(import.meta.dirname, `../corefiles/${name}.Corefile`)
      const custom = ['--set', 'server.coredns.custom=true']
      const { stdout, stderr } = render(...custom, '--set-file', `server.corefile=${path}`)
      const { data } = Object(objectsOf(stdout).find(({ kind }) => kind === 'ConfigMap'))
      assert.equal(data?.Corefile, readFileSync(path, 'utf8'), stderr)
    })
  }
})

/** Returns what is at a path: `~` is a dot in a name, and numbers below 0 count from the end. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((from, step) => {
    if (Array.isArray(from)) return from.at(Number(step))
    return Object(from)[step.replaceAll('~', '.')]
  }, value)
}

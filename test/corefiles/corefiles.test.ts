import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { type Server, serve } from '../ask.ts'
import { runCli } from '../cli/run-cli.ts'
import type { FakeHostOptions } from '../fake-host.ts'
import { COMPANY_ZONE, DOCUMENTS } from './documents.ts'

const FOLDER = import.meta.dirname
const RESOLV_CONF = 'search ap-south-1.compute.internal\nnameserver 10.0.0.2\n'

/** The server that a Corefile makes, word for word. */
function open(name: string, { files, ...around }: FakeHostOptions): Server {
  const corefile = readFileSync(join(FOLDER, `${name}.Corefile`), 'utf8')
  return serve(corefile, { files: { '/etc/resolv.conf': RESOLV_CONF, ...files }, ...around })
}

describe('Corefiles as people have them are read as they are', () => {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.Corefile'))) {
    test(file, () => {
      const files = { '/etc/coredns/company.db': COMPANY_ZONE, '/etc/coredns/NodeHosts': '' }
      const around = { files, cluster: { objects: '[]' }, keys: {} }
      assert.notEqual(open(file.replace(/\.Corefile$/, ''), around).resolver.listeners.length, 0)
    })
  }
})

describe('kubedoh check accepts the Corefiles of distributions', () => {
  for (const name of ['kubeadm', 'k3s', 'rke2', 'eks', 'aks', 'openshift-4', 'minikube']) {
    test(name, async () => {
      const { status, stderr } = await runCli(['check', join(FOLDER, `${name}.Corefile`)])
      assert.equal(status, 0, stderr)
      // Outside of their pods, the files around them are missing, and "template" is where AKS has
      // it.
      const warnings = stderr.match(/warning: .*/g) ?? []
      for (const line of warnings) assert.match(line, /missing|nothing imported|"template" acts/)
    })
  }
})

describe('what documents show', () => {
  for (const { name, corefile, around, asked } of DOCUMENTS) {
    test(name, async () => {
      const server = open(corefile, around)
      for (const [question, reply] of Object.entries(asked)) {
        assert.deepEqual((await server.ask(question)).sort(), reply.toSorted(), question)
      }
    })
  }
})

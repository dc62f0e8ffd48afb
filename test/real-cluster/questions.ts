/**
 * Questions about objects: each of their names, neighboring names, and each type.
 * @module
 */
import { parseAddress, reverseName } from '../../src/dns/names/address.ts'
import { formatName } from '../../src/dns/names/name.ts'
import type { ApiObject } from './api-server.ts'
import type { QuestionText } from './asking.ts'

const TYPES = ['A', 'AAAA', 'SRV', 'TXT', 'CNAME', 'PTR', 'MX', 'HTTPS', 'ANY'] as const

type Fields = Readonly<Record<string, unknown>>

/** Lists questions about the objects in a zone. */
export function questionsAbout(objects: readonly ApiObject[], zone: string): QuestionText[] {
  const names = new Set<string>(['', 'svc.', 'pod.', 'dns-version.', 'nope.', 'a.b.c.d.e.'])
  const reverse = new Set<string>(['203.0.113.1'])
  for (const object of objects) addNames(object, names, reverse)
  const forward = [...names].flatMap((name) =>
    TYPES.map((type): QuestionText => `${name}${zone} ${type}`),
  )
  const back = [...reverse].flatMap((address) => {
    const name = formatName(reverseName(parseAddress(address) ?? new Uint8Array(4)))
    return [`${name} PTR`, `${name} A`] satisfies QuestionText[]
  })
  return [...forward, ...back]
}

function addNames(object: ApiObject, names: Set<string>, reverse: Set<string>): void {
  const { kind, metadata } = object
  const spec = fieldsOf(object.spec)
  if (kind === 'Namespace') {
    for (const part of ['svc', 'pod']) names.add(`${metadata.name}.${part}.`)
    names.add(`nope.${metadata.name}.svc.`)
    names.add(`10-244-9-1.${metadata.name}.pod.`)
  }
  if (kind === 'Service') {
    const name = `${metadata.name}.${metadata.namespace}.svc.`
    for (const prefix of [
      '',
      'nope.',
      '*.',
      '_http._tcp.',
      '_nope._tcp.',
      '_tcp.',
      '_sql._tcp.',
      'a.b.c.',
    ]) {
      names.add(prefix + name)
    }
    for (const port of listOf(spec.ports).map(fieldsOf)) {
      names.add(`_${port.name}._${String(port.protocol).toLowerCase()}.${name}`)
    }
    for (const address of listOf(spec.clusterIPs)) addAddress(reverse, address)
    addAddress(reverse, spec.clusterIP)
  }
  if (kind === 'EndpointSlice') {
    const service = fieldsOf(fieldsOf(metadata).labels)['kubernetes.io/service-name']
    for (const endpoint of listOf(object.endpoints).map(fieldsOf)) {
      for (const address of listOf(endpoint.addresses)) {
        addAddress(reverse, address)
        const label = endpoint.hostname ?? String(address).replace(/[.:]/g, '-')
        const name = `${label}.${service}.${metadata.namespace}.svc.`
        names.add(name)
        names.add(`_http._tcp.${name}`)
      }
    }
  }
}

function addAddress(reverse: Set<string>, value: unknown): void {
  if (typeof value === 'string' && parseAddress(value) !== undefined) reverse.add(value)
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

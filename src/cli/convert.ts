/**
 * `kubedoh convert`: other systems' configuration as a Corefile on standard output, what it cannot
 * say on standard error.
 * @module
 */
import { type Conversion, Settings } from '../convert/conversion.ts'
import { convertDnsmasq } from '../convert/dnsmasq.ts'
import { convertKubeDns } from '../convert/kube-dns.ts'
import { convertNodeLocal } from '../convert/nodelocal.ts'
import { convertOpenshift } from '../convert/openshift.ts'
import { convertSkydns } from '../convert/skydns.ts'
import { readDocuments } from '../exporter/object-files.ts'
import { CommandError, type Output, whyUnreadable } from '../node/output.ts'
import { readTextFile } from '../node/read-files.ts'
import type { Input } from './flags.ts'

/** What can be converted. */
export type ConvertSource = 'openshift' | 'kube-dns' | 'nodelocal' | 'dnsmasq' | 'skydns'

/** Converts files. @throws {ConversionError} when they cannot be */
export async function runConvert(
  source: ConvertSource,
  input: Input,
  output: Output,
): Promise<void> {
  const settings = new Settings(input.texts('set'))
  const { corefile, notices } = convert(source, input.args, settings)
  settings.checkUsed()
  for (const notice of notices) output.stderr.write(`notice: ${notice}\n`)
  output.stdout.write(corefile)
}

function convert(source: ConvertSource, paths: readonly string[], settings: Settings): Conversion {
  switch (source) {
    case 'openshift':
      return convertOpenshift(paths.flatMap(readDocuments), settings)
    case 'kube-dns':
      return convertKubeDns(paths.flatMap(readDocuments), settings)
    case 'nodelocal':
      return convertNodeLocal(readNodeLocal(paths), settings)
    case 'dnsmasq':
      return convertDnsmasq(paths.map((path) => ({ path, text: readText(path) })))
    case 'skydns':
      return convertSkydns(paths.map(readText))
  }
}

/** A file that is no YAML or JSON by its name or its first line is a template. */
function readNodeLocal(paths: readonly string[]): Parameters<typeof convertNodeLocal>[0] {
  const texts: string[] = []
  const documents: unknown[] = []
  for (const path of paths) {
    const text = readText(path)
    const isObject =
      /\.(json|ya?ml)$/.test(path) || /^\s*(\{|apiVersion:|#[^\n]*\n*apiVersion:)/.test(text)
    if (isObject) documents.push(...readDocuments(path))
    else texts.push(text)
  }
  return { texts, documents }
}

function readText(path: string): string {
  const text = readTextFile(path)
  if (text === undefined) throw new CommandError(`Cannot read ${path}: ${whyUnreadable(path)}`)
  return text
}

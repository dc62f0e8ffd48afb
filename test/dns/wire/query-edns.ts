/**
 * OPT records that the gate takes, and what it reads from them (RFC 6891 §6.1).
 * @module
 */
import type { Query } from '../../../src/dns/wire/query.ts'

/** An OPT record as the only one behind the question of `a.example.org`. */
export type OptCase = {
  readonly name: string
  readonly opt: string
  readonly expected: Partial<Query>
}

/** Each is well-formed. */
export const OPT_RECORDS: readonly OptCase[] = [
  {
    name: 'reads an empty OPT record',
    opt: '00 0029 04d0 00000000 0000',
    expected: { hasEdns: true, udpBytes: 1232, wantsDnssec: false, optionsBytes: 0 },
  },
  {
    name: 'takes the UDP size as it is said',
    opt: '00 0029 0000 00000000 0000',
    expected: { udpBytes: 0 },
  },
  {
    name: 'takes the greatest UDP size',
    opt: '00 0029 ffff 00000000 0000',
    expected: { udpBytes: 65535 },
  },
  { name: 'reads DO', opt: '00 0029 04d0 00008000 0000', expected: { wantsDnssec: true } },
  {
    name: 'ignores other flags',
    opt: '00 0029 04d0 00007fff 0000',
    expected: { wantsDnssec: false },
  },
  {
    name: 'ignores the extended code',
    opt: '00 0029 04d0 ff000000 0000',
    expected: { ednsVersion: 0 },
  },
  {
    name: 'says where the options are',
    opt: '00 0029 04d0 00000000 0005 fde9 0001 ff',
    expected: { optionsStart: 42, optionsBytes: 5, wantsPadding: false, wantsNsid: false },
  },
  {
    name: 'sees padding',
    opt: '00 0029 04d0 00000000 0006 000c 0002 0000',
    expected: { wantsPadding: true },
  },
  {
    name: 'sees padding without bytes, and with any',
    opt: '00 0029 04d0 00000000 0009 000c 0000 000c 0001 ff',
    expected: { wantsPadding: true },
  },
  {
    name: 'sees the question for an identifier',
    opt: '00 0029 04d0 00000000 0004 0003 0000',
    expected: { wantsNsid: true },
  },
  {
    name: 'sees both after options it does not know',
    opt: '00 0029 04d0 00000000 0010 0064 0000 fde9 0000 0003 0000 000c 0000',
    expected: { wantsNsid: true, wantsPadding: true },
  },
  {
    name: 'does not take data for an option',
    opt: '00 0029 04d0 00000000 0008 0064 0004 000c 0000',
    expected: { wantsPadding: false },
  },
  {
    name: 'lets a malformed client subnet pass, which it does not use',
    opt: '00 0029 04d0 00000000 0005 0008 0001 ff',
    expected: { optionsBytes: 5 },
  },
  {
    name: 'takes 300 options',
    opt: `00 0029 04d0 00000000 04b0 ${'00640000'.repeat(300)}`,
    expected: { optionsBytes: 1200 },
  },
]

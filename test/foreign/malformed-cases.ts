/**
 * Messages that BIND's system test "formerr" sends, built here from what it says of each, and the
 * response code that BIND gives.
 * @module
 */

/** A message, and what BIND responds. */
export type MalformedCase = {
  /** BIND's name for it. */
  readonly name: string
  readonly message: Buffer
  readonly rcode: string
}

const TYPE = { A: 1, NS: 2, SOA: 6, KEY: 25, OPT: 41, RRSIG: 46, NSEC3: 50, TSIG: 250, MAILB: 253 }
const CLASS = { IN: 1, ANY: 255 }
const ROOT = '.'

type Counts = { qd?: number; an?: number; ns?: number; ar?: number }

function header(counts: Counts, { id = 0, opcode = 0 } = {}): Buffer {
  const { qd = 0, an = 0, ns = 0, ar = 0 } = counts
  return Buffer.from(Uint16Array.of(id, opcode << 11, qd, an, ns, ar).buffer).swap16()
}

function name(text: string): Buffer {
  const labels = text.split('.').filter((label) => label !== '')
  const parts = labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...parts, Buffer.of(0)])
}

/** A name of 256 bytes, one more than a name may have. */
const LONG = `${`${'A'.repeat(15)}.`.repeat(15)}${'A'.repeat(14)}.`

function question(owner: string, type: number, type2 = CLASS.IN): Buffer {
  return Buffer.concat([name(owner), Buffer.of(type >>> 8, type & 255, type2 >>> 8, type2 & 255)])
}

function record(owner: string, type: number, rest: { class?: number; data?: Buffer } = {}): Buffer {
  const { class: klass = CLASS.IN, data = Buffer.alloc(0) } = rest
  const size = Buffer.of(0, 0, 0, 1, data.length >>> 8, data.length & 255)
  return Buffer.concat([question(owner, type, klass), size, data])
}

const address = (owner: string): Buffer => record(owner, TYPE.A, { data: Buffer.alloc(4) })

function soa(minimum: number): Buffer {
  const numbers = [1, 2, 3, 4, minimum].flatMap((value) => [0, 0, 0, value])
  return record(ROOT, TYPE.SOA, { data: Buffer.of(0, 0, ...numbers) })
}

/** TSIG of algorithm "." with a MAC of one byte (RFC 8945 §4.2). */
function tsig(klass: number): Buffer {
  const data = Buffer.of(0, 1, 2, 3, 4, 5, 6, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0)
  return record(ROOT, TYPE.TSIG, { class: klass, data })
}

const rrsig = Buffer.of(0, 0, 240, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0)
const A_LABELS = 'AAAAAAAAAAAAAA.'

/** All of them. */
export const MALFORMED: readonly MalformedCase[] = [
  of('nametoolong', header({ qd: 1 }), question(LONG, TYPE.A)),
  of(
    'twoquestionnames',
    header({ qd: 2 }),
    question(A_LABELS, TYPE.A),
    name(A_LABELS),
    question('AAAAAAAAAAAAAB.', TYPE.A),
  ),
  of(
    'twoquestiontypes',
    header({ qd: 2 }),
    question(A_LABELS, TYPE.A),
    question(A_LABELS, TYPE.NS),
  ),
  of('dupquestion', header({ qd: 2 }), question(A_LABELS, TYPE.A), question(A_LABELS, TYPE.A)),
  of('dupans', header({ qd: 1, an: 2 }), question(ROOT, TYPE.SOA), soa(5), soa(6)),
  of('qtypeasanswer', header({ an: 1 }), record(ROOT, TYPE.MAILB)),
  of('noquestions', header({})),
  {
    ...of(
      'badnsec3owner',
      header({ qd: 1, ns: 1 }),
      question(ROOT, TYPE.A),
      record('X.', TYPE.NSEC3, { data: Buffer.of(240, 0, 0, 0, 0, 1, 255) }),
    ),
    rcode: 'SERVFAIL',
  },
  of('shortrecord', header({ ar: 1 }), question(ROOT, TYPE.A)),
  of('shortquestion', header({ qd: 1 }), name(ROOT), Buffer.of(0, TYPE.A)),
  of('twoquestionclasses', header({ qd: 2 }), question(ROOT, TYPE.A), question(ROOT, TYPE.A, 2)),
  of('badrecordname', header({ ar: 1 }), address(LONG)),
  of(
    'wrongclass',
    header({ ar: 2 }),
    address(ROOT),
    record(ROOT, 65_280, { class: 256, data: Buffer.alloc(4) }),
  ),
  of(
    'keyclass',
    header({ qd: 1, ar: 1 }),
    question(ROOT, TYPE.A),
    record(ROOT, TYPE.KEY, { class: 2, data: Buffer.of(0, 0, 0, 248, 0) }),
  ),
  of('optwrongname', header({ ar: 1 }), record('A.', TYPE.OPT)),
  of('malformedrrsig', header({ ar: 1 }), record(ROOT, TYPE.RRSIG, { data: rrsig })),
  of(
    'malformeddeltype',
    header({ ns: 1 }, { opcode: 5 }),
    record(ROOT, TYPE.A, { class: CLASS.ANY, data: Buffer.of(0) }),
  ),
  of('tsigwrongclass', header({ ar: 1 }), tsig(CLASS.IN)),
  of('tsignotlast', header({ ar: 2 }, { id: 67 }), tsig(CLASS.ANY), address(ROOT)),
]

function of(caseName: string, ...parts: readonly Buffer[]): MalformedCase {
  return { name: caseName, message: Buffer.concat(parts), rcode: 'FORMERR' }
}

/**
 * The rules of docs/style.md that a program can check, except for the length of a sentence. Code is masked before a rule sees a text.
 * A rule that would need many exceptions does not belong here.
 */

export interface Rule {
  readonly id: string
  readonly found: RegExp
  /** What to write instead. */
  readonly instead: string
}

const adverb = '(?:not |then |never |also |only |still |always |already |yet |just )?'

/** Participles that usually come without an actor here: nobody told, asked or waited. */
const hiding = [
  'told|asked|said|spoken|looked (?:at|for|up)|waited|thought|begun|brought|gone (?:on|over|through)',
  'listened|given (?:back|up|to)|answered (?:with|by|to|from|for)|made sure|known (?:here|there|to)|taken (?:in|as|for|back)',
].join('|')

/** Questions keep `what`; "what to do" and "what is wrong" as the object of a verb do too. */
const before = 'of|with|from|by|into|than|except|like|only|all|at|as|is|are|not|until|to'
const free = `(?:${before}) (?:what|whoever|whatever)\\b(?! to\\b| if\\b|\\?)[^.;:?]*(?=[.;:]|$)`

export const rules: readonly Rule[] = [
  {
    id: 'headless-relative',
    found: new RegExp(
      `\\b(?:whoever|whomever|whatever (?:is|are|was|were|has|it|they|he|she|came|comes))\\b|(?<![\\w-])${free}|(?<=^|[.;] )What (?!to\\b)[^.?]*\\.`,
      'gi',
    ),
    instead: 'name the thing: "pending deliveries", not "what waits"',
  },
  {
    id: 'hidden-actor',
    found: new RegExp(`\\b(?:is|are|was|were|be|been|being) ${adverb}(?:${hiding})\\b`, 'gi'),
    instead: 'make the actor the subject: "the worker asks", not "is asked"',
  },
  {
    id: 'double-negative',
    found: /\b(?:nobody|nothing|none|never|no|not)\b[^.;:?]{0,80}\bunless\b|\bunless (?:told|said|sent)\b/gi,
    instead: 'say when it does happen, or write "optional; default: …"',
  },
  ...words({
    'as it were|so to speak|that is to say': 'nothing',
    '(?<!is |be |ambiguous )\\btells?(?= (?!(?:it|them) apart)[a-z])|told': 'reports, shows, notifies',
    'mend(?:s|ed|ing)?': 'fix, repair',
    'in (?:the|its|their) place of': 'instead of',
    'beside others': 'while other tenants are active',
    beside: 'next to, in addition to, while … runs',
    'leaves? room|room for': 'capacity, yields',
    'endpoint_queues?': 'queue',
    'takes? (?:a|its|their) (?:turn|place)|in turn': 'gets a permit; in order',
    'rests? (?:between|of \\d)|(?:it|they|queue|endpoint) rests?': 'delay, backoff',
    'hands? over|handed over|hand-over': 'offload (to a thread); assign (a conversation)',
    strangers: 'unauthenticated clients',
    'in company': 'while other tenants are active',
    'at home|home of': 'shard, or database of the organization',
    'clock tasks?': 'exclusive task',
    'kept (?:answer|response)s?|stored answers?': 'stored response',
    'lingers?|withheld': 'the state: idle, redacted',
    'refused with \\d+': 'failed: HTTP 500',
    'usual one|the usual': 'default',
    'send again what it': 'replay missed events',
    'made now': 'just now',
    'by your clock': 'times in Europe/London',
    'as many as there may be': 'limit reached',
    'come? to (?:its|their|an) end|came to (?:its|their|an) end': 'ends, was interrupted',
    'stands? (?:still|beside|in|for|there|at|below|above)': 'is, is blocked, is stored',
    'unless told': 'optional; default: …',
    'for want of': 'because there is no',
    'with nothing in (?:the way|between)': 'at once',
    'in the manner of': 'as, like',
    'goes? without saying|it goes that': 'nothing',
    'out of the way|in the way': 'blocked by',
    whence: 'from where',
    thereof: 'of it',
  }),
]

/** Words, each with what to write instead. */
function words(list: Readonly<Record<string, string>>): Rule[] {
  return Object.entries(list).map(([word, instead]) => ({
    id: 'word',
    found: new RegExp(`(?<![\\w-])(?:${word})(?![\\w-])`, 'gi'),
    instead: `write: ${instead}`,
  }))
}

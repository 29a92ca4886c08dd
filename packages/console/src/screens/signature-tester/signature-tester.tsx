/** Checks a delivery's signature and names the rule that it breaks. It runs in the browser, with the SDK's code. */
import type { Examination, ReceivingRule } from '@deskwire/sdk'
import { useEffect, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { Field, TextArea, TextInput } from '../../design/field.tsx'
import { Notice } from '../../design/notice.tsx'
import { Page, Panel } from '../../design/page.tsx'
import { Sign, Status } from '../../design/status.tsx'
import { examined, type Result, secretsOf } from './examined.ts'
import { prefill, prefilled } from './prefilled.ts'
import { type Pasted, sampleBody, sampleSecret, signed } from './sample.ts'
import css from './signature-tester.module.css'

const nothing: Pasted = { headers: '', body: '', secrets: '', keys: '' }

export function SignatureTester() {
  const [pasted, setPasted] = useState(() => ({ ...nothing, ...prefilled() }))
  useEffect(() => prefill({}), [])
  const [at, setAt] = useState('')
  const [tolerance, setTolerance] = useState('300')
  const [fault, setFault] = useState<string | undefined>()
  const result = useExamined(pasted, at, tolerance)
  const put = (change: Partial<Pasted>) => {
    setFault(undefined)
    setPasted((held) => ({ ...held, ...change }))
  }

  async function sign({ body, secrets }: Pick<Pasted, 'body' | 'secrets'>): Promise<void> {
    try {
      const headers = await signed(body, secretsOf(secrets), Date.now())
      setFault(undefined)
      setAt('')
      setPasted({ headers, body, secrets, keys: '' })
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }

  // Browsers give WebCrypto to https and localhost only.
  if (crypto.subtle === undefined) {
    return (
      <Page title="Signature tester">
        <Notice tone="wait" title="This page has no way to compute a signature">
          <p>
            Browsers allow it on https and on localhost alone. Open the console by such an address, or use{' '}
            <code>deskwire signature verify</code>.
          </p>
        </Notice>
      </Page>
    )
  }
  const faults = result.state === 'waiting' ? result.faults : {}
  return (
    <Page
      title="Signature tester"
      about="Paste a delivery as your receiver got it. It is verified here, by the SDK’s own code: nothing of it leaves this tab."
      actions={
        <>
          <Button onClick={() => void sign({ body: sampleBody(Date.now()), secrets: sampleSecret() })}>
            Try a sample
          </Button>
          <Button onClick={() => put(nothing)}>Clear</Button>
        </>
      }
    >
      <div className={css.sides}>
        <Panel title="The delivery">
          <div className={css.fields}>
            <Field
              label="Secret"
              hint="As it was shown, whsec_ included. While a rotation lasts: each on a line of its own."
              error={fault ?? faults.secrets}
            >
              <TextArea
                mono
                rows={1}
                spellCheck={false}
                autoComplete="off"
                placeholder="whsec_…"
                value={pasted.secrets}
                onChange={(event) => put({ secrets: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Public keys"
              hint="For the asymmetric signature (v1a): what /.well-known/jwks.json says for the organization."
              error={faults.keys}
            >
              <TextArea
                mono
                rows={1}
                spellCheck={false}
                placeholder='{"keys":[…]}'
                value={pasted.keys}
                onChange={(event) => put({ keys: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Headers"
              hint="A line each, as curl -v and browsers show them, or a JSON object. Others may stand among them."
              error={faults.headers}
            >
              <TextArea
                mono
                rows={5}
                spellCheck={false}
                placeholder={'X-Service-Signature: t=1769851800,v1=…'}
                value={pasted.headers}
                onChange={(event) => put({ headers: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Raw body"
              hint="The bytes as they came. One that was parsed and written again has another signature."
            >
              <TextArea
                mono
                rows={9}
                spellCheck={false}
                placeholder='{"id":"…","type":"customer.created",…}'
                value={pasted.body}
                onChange={(event) => put({ body: event.currentTarget.value })}
              />
            </Field>
            <div className={css.pair}>
              <Field label="Now, in unix seconds" hint="To judge a delivery of the past.">
                <TextInput
                  mono
                  inputMode="numeric"
                  placeholder="the time of this device"
                  value={at}
                  onChange={(event) => setAt(digits(event.currentTarget.value))}
                />
              </Field>
              <Field label="Tolerance, in seconds" hint="How far from now it may be signed.">
                <TextInput
                  mono
                  inputMode="numeric"
                  value={tolerance}
                  onChange={(event) => setTolerance(digits(event.currentTarget.value))}
                />
              </Field>
            </div>
            <div className={css.sign}>
              <Button onClick={() => void sign(pasted)}>Sign this body with this secret</Button>
            </div>
          </div>
        </Panel>
        <div className={css.findings}>
          <Findings result={result} />
        </div>
      </div>
    </Page>
  )
}

const digits = (text: string) => text.replace(/\D/g, '').slice(0, 15)

/** With each change of the input, and every few seconds while the time is now, as a delivery grows old. */
function useExamined(pasted: Pasted, at: string, tolerance: string): Result {
  const [result, setResult] = useState<Result>({ state: 'waiting', faults: {} })
  useEffect(() => {
    let isCurrent = true
    const settings = { at: at === '' ? null : Number(at), tolerance: Number(tolerance) }
    async function look(): Promise<void> {
      const found = await examined(pasted, settings)
      if (isCurrent) setResult(found)
    }
    void look()
    const again = at === '' ? setInterval(() => void look(), 5000) : undefined
    return () => {
      isCurrent = false
      clearInterval(again)
    }
  }, [pasted, at, tolerance])
  return result
}

function Findings({ result }: { readonly result: Result }) {
  if (result.state === 'waiting') {
    return (
      <Panel title="What comes of it">
        <p className={css.none}>
          Enter a secret, or public keys, and headers to check the delivery against each rule of receiving. If
          no signature fits, frequent mistakes are tried: a body that was parsed and written again, a line
          break too many, the key of the other scheme.
        </p>
        <Verifying />
      </Panel>
    )
  }
  return result.examinations.map((one) => <OneScheme key={one.scheme} examination={one} />)
}

const titles = {
  service: 'X-Service-Signature',
  standard: 'Standard Webhooks',
  v1a: 'Standard Webhooks, asymmetric',
} as const
const names: Readonly<Record<ReceivingRule, string>> = {
  header: 'Headers',
  form: 'Form',
  time: 'Time',
  signature: 'Signature',
}

function OneScheme({ examination }: { readonly examination: Examination }) {
  const { scheme, verified, detail, cause, rules } = examination
  return (
    <Panel
      title={titles[scheme]}
      actions={<Status tone={verified ? 'good' : 'bad'}>{verified ? 'Verified' : 'Refused'}</Status>}
    >
      <ol className={css.rules}>
        {rules.map(({ rule, says, holds, seen }) => (
          <li key={rule} data-holds={holds ?? 'unknown'}>
            <Sign tone={holds === null ? 'quiet' : holds ? 'good' : 'bad'} />
            <div>
              <p>
                <strong>{names[rule]}</strong>{' '}
                <span>{holds === null ? 'not looked at' : holds ? 'holds' : 'is broken'}</span>
              </p>
              <p className={css.says}>
                {says}
                {seen !== '' && <em>{seen}</em>}
              </p>
            </div>
          </li>
        ))}
      </ol>
      <div role="status">
        {!verified && (
          <div className={css.why}>
            <p>{detail}</p>
            {cause !== null && (
              <p>
                <strong>Likely:</strong> {cause}
              </p>
            )}
          </div>
        )}
      </div>
    </Panel>
  )
}

/** What a receiver contains, for comparison. */
function Verifying() {
  return (
    <Code
      label="A receiver in TypeScript"
      text={`import { verify } from '@deskwire/sdk'

// The raw body: before any parser has seen it. Throws SignatureError: respond with 400.
handle(await verify(rawBody, request.headers, secret))`}
    />
  )
}

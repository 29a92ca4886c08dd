import { describe, expect, test } from 'vitest'
import { maxUrlLength, parseTargetUrl } from '../../src/delivery/send/url.ts'

describe('accepted', () => {
  test.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['HTTPS://Hooks.Example.COM:8443/Path?q=1&r=a%20b', 'https://hooks.example.com:8443/Path?q=1&r=a%20b'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['https://hooks.example.com./x', 'https://hooks.example.com./x'],
    ['https://hooks.example.com/a@b?c=@', 'https://hooks.example.com/a@b?c=@'],
    ['https://[2606:4700::1111]:443/', 'https://[2606:4700::1111]/'],
    // Where these lead is the resolver's to say.
    ['https://2130706433/', 'https://127.0.0.1/'],
  ])('%s', (text, href) => {
    const parsed = parseTargetUrl(text)
    expect(parsed.ok && parsed.value.href).toBe(href)
  })

  test('of the greatest length', () => {
    const base = 'https://hooks.example.com/'
    expect(parseTargetUrl(base.padEnd(maxUrlLength, 'x')).ok).toBe(true)
    expect(refusal(base.padEnd(maxUrlLength + 1, 'x'))).toEqual({
      code: 'validation_failed',
      detail: expect.stringContaining(`has ${maxUrlLength + 1} characters`),
    })
  })
})

describe('refused', () => {
  test.each([
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'javascript:alert(1)',
    'wss://hooks.example.com/',
  ])('not https: %s', (text) => {
    expect(refusal(text)).toEqual({
      code: 'url_not_https',
      detail: expect.stringMatching(
        /^The URL must begin with https:\/\/, not \w+:\. Give an https URL .*\.$/,
      ),
    })
  })

  test.each([
    ['', 'is not a URL'],
    ['hooks.example.com/path', 'is not a URL'],
    ['/path', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https:hooks.example.com', 'names no host after https://'],
    ['https:///hooks.example.com', 'names no host after https://'],
    ['https://./', 'names no host after https://'],
    ['https://%2E.:8443/x', 'names no host after https://'],
    ['https://user:secret@hooks.example.com/', 'user information'],
    ['https://user@hooks.example.com/', 'user information'],
    ['https://@hooks.example.com/', 'user information'],
    ['https://hooks.example.com/#part', 'fragment'],
    ['https://hooks.example.com/#', 'fragment'],
    [' https://hooks.example.com/', 'white space'],
    ['https://hooks.exam\nple.com/', 'white space'],
    ['https://hooks.example.com/\u0000', 'control character'],
    ['https:\\\\hooks.example.com', 'backslash'],
    ['https://hooks.example.com\\@evil.example/', 'backslash'],
    ['https://hooks.example.com:99999/', 'is not a URL'],
    ['https://hooks.example.com:0/', 'port 0'],
    ['https://[fe80::1%25eth0]/', 'is not a URL'],
    ['https://[::1/', 'is not a URL'],
    ['https://1.2.3.4.5/', 'is not a URL'],
    ['https://256.1.1.1/', 'is not a URL'],
    ['https://a b.example/', 'white space'],
    ['https://a%20b.example/', 'is not a URL'],
    ['https://a%00b.example/', 'is not a URL'],
    ['https://hooks.example.com/%ED%A0%80', 'no character in UTF-8'],
    ['https://hooks.example.com/?a=%FF', 'no character in UTF-8'],
    ['https://hooks.example.com/100%', 'no character in UTF-8'],
  ])('%j', (text, part) => {
    const detail = `must be an https URL of at most 2048 characters, without user information or fragment; this one `
    expect(refusal(text)).toEqual({ code: 'validation_failed', detail: expect.stringContaining(part) })
    expect(refusal(text)?.detail.startsWith(detail)).toBe(true)
  })

  test('without repeating what was sent, which may hold a secret', () => {
    expect(refusal('https://user:secret@hooks.example.com/')?.detail).not.toContain('secret')
  })
})

function refusal(text: string) {
  const parsed = parseTargetUrl(text)
  return parsed.ok ? undefined : parsed.error
}

/**
 * Which organization a statement names, as PostgreSQL's own parser reads it: the tables of which it reads or writes
 * rows that no organization is named for, and what it names organizations by.
 *
 * A table is named when its `organization_id` is held equal, by `where`, `on` or what is inserted, to a parameter or
 * a variable, through however many other tables and subqueries. An `or`, and one of several, name none.
 */
import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query'

await loadModule()

export interface Naming {
  /** Tables, and functions of the schema without arguments, for which no organization is named. */
  readonly unnamed: readonly string[]
  /** Numbers of parameters that name organizations. */
  readonly parameters: readonly number[]
  /** Variables of a function that name organizations. */
  readonly variables: readonly string[]
}

/** Tables of no organization: the installation's row, the list of migrations, PostgreSQL's own. */
const ofNone = /^(installation|schema_migrations|pg_\w+)$/
/** A function that the schema creates for a release; its first argument is the organization. */
const ofSchema = /_[0-9a-f]{12}$/
/** But for one that reads the installation's row, and those that read no table. */
const ofInstallation = /^(require_sealed_with|units_of|event_patterns)_/

/** The arguments of the function of the schema that is called here; none of any other. */
function calledIn(functions: unknown): readonly Tree[] {
  const [items] = listOf(functions).map(({ List: list }) => listOf((list as Tree | undefined)?.items))
  const { FuncCall: call } = (items?.[0] ?? {}) as { FuncCall?: Tree }
  return ofSchema.test(nameOf(call)) ? listOf(call?.args) : []
}

function nameOf(call: Tree | undefined): string {
  return call === undefined ? '' : String(Object.values(listOf(call.funcname).at(-1)?.String ?? {})[0])
}

/** Of one statement. Variables of functions may name organizations too: those with this ending. */
export function namingOf(sql: string): Naming {
  const reader = new Reader()
  const { stmts = [] } = parseSync(sql) as unknown as { readonly stmts?: readonly { readonly stmt: Tree }[] }
  for (const { stmt } of stmts) reader.statement(stmt, new Scope(null))
  return reader.naming()
}

/** The statements of a function, in SQL or plpgsql; none of a type. */
export function statementsIn(definition: string): readonly string[] {
  const [, body] = /^language sql [\s\S]*?\$function\$([\s\S]*)\$function\$/m.exec(definition) ?? []
  if (body !== undefined) return [body]
  const found: string[] = []
  const visit = (tree: unknown) => {
    if (Array.isArray(tree)) tree.forEach(visit)
    else if (typeof tree === 'object' && tree !== null) {
      const { query, parseMode } =
        (tree as { PLpgSQL_expr?: { query: string; parseMode: number } }).PLpgSQL_expr ?? {}
      // Mode 0 is a statement and 2 an expression; in others, assignments, the right side is one.
      if (query !== undefined)
        found.push(
          parseMode === 0
            ? query
            : `select ${query.replace(/^[\w.[\]]+\s*:?=(?!=)/, parseMode === 2 ? '$&' : '')}`,
        )
      Object.values(tree).forEach(visit)
    }
  }
  // The parser knows no types of a database.
  visit(parsePlPgSQLSync(definition.replaceAll(/\w+_[0-9a-f]{12}\[\]/g, 'text[]')))
  return found
}

interface Tree {
  readonly [name: string]: unknown
}

/** Terms that are required to be equal have one root. */
interface Term {
  same: Term | null
  readonly parameter?: number
  readonly variable?: string
}

function rootOf(term: Term): Term {
  let root = term
  while (root.same !== null) root = root.same
  return root
}

/** Relations of a `from` with their organization; null: none. */
type Relations = Map<string, Term | null>

class Scope {
  readonly relations: Relations = new Map()
  readonly queries: Relations = new Map()
  readonly outer: Scope | null
  hasTable = false

  constructor(outer: Scope | null) {
    this.outer = outer
  }

  /** Undefined where nothing has that name. */
  find(of: 'relations' | 'queries', name: string): Term | null | undefined {
    return this[of].has(name) ? this[of].get(name) : this.outer?.find(of, name)
  }

  /** The relation of an `organization_id` without a qualifier. */
  get only(): Term | null {
    const terms = [...this.relations.values()].filter((term) => term !== null)
    return terms[0] ?? this.outer?.only ?? null
  }
}

class Reader {
  readonly #needed: { readonly name: string; readonly term: Term }[] = []
  readonly #parameters = new Map<number, Term>()
  readonly #variables = new Map<string, Term>()

  naming(): Naming {
    const naming = [...this.#parameters.values(), ...this.#variables.values()]
    const used = new Set(this.#needed.map(({ term }) => rootOf(term)))
    const names = naming.filter((term) => used.has(rootOf(term)))
    const named = new Set(names.map(rootOf))
    return {
      unnamed: this.#needed.filter(({ term }) => !named.has(rootOf(term))).map(({ name }) => name),
      parameters: names.flatMap(({ parameter }) => parameter ?? []).sort((a, b) => a - b),
      variables: names.flatMap(({ variable }) => variable ?? []).sort(),
    }
  }

  /** Returns what its rows have as their organization. */
  statement(tree: Tree, scope: Scope): Term | null {
    const [[kind, body] = ['', {}]] = Object.entries(tree) as [string, Tree][]
    switch (kind) {
      case 'SelectStmt':
        return this.#select(body, new Scope(scope))
      case 'InsertStmt':
      case 'UpdateStmt':
      case 'DeleteStmt':
        return this.#write(body, new Scope(scope))
      default:
        return null
    }
  }

  #select(body: Tree, scope: Scope): Term | null {
    this.#with(body, scope)
    if (body.op !== undefined && body.op !== 'SETOP_NONE') {
      const arms = [body.larg, body.rarg].map((arm) => this.#select(arm as Tree, new Scope(scope)))
      return this.#same(arms)
    }
    for (const item of listOf(body.fromClause)) this.#from(item, scope)
    this.#conditions(body.whereClause, scope)
    const { whereClause: _where, fromClause: _from, withClause: _with, ...others } = body
    this.#expressions(others, scope)
    const rows = listOf(body.valuesLists)
    return rows.length > 0 ? null : this.#output(listOf(body.targetList), scope)
  }

  #write(body: Tree, scope: Scope): Term | null {
    this.#with(body, scope)
    const target = this.#table(body.relation as Tree, scope)
    for (const item of [...listOf(body.fromClause), ...listOf(body.usingClause)]) this.#from(item, scope)
    if (body.cols !== undefined) this.#inserted(body, target, scope)
    const conflict = body.onConflictClause as Tree | undefined
    if (conflict !== undefined) scope.relations.set('excluded', target)
    this.#conditions(body.whereClause, scope)
    const {
      whereClause: _where,
      fromClause: _from,
      usingClause: _using,
      withClause: _with,
      selectStmt: _select,
      ...others
    } = body
    this.#expressions(others, scope)
    return this.#output(listOf(body.returningList ?? (body.returningClause as Tree)?.exprs), scope)
  }

  /** The value that is inserted as `organization_id` is the table's organization. */
  #inserted({ cols, selectStmt }: Tree, target: Term | null, scope: Scope): void {
    const place = listOf(cols).findIndex((column) => (column.ResTarget as Tree).name === 'organization_id')
    const select = (selectStmt as Tree | undefined)?.SelectStmt as Tree | undefined
    if (select === undefined) return
    const inner = new Scope(scope)
    this.#select(select, inner)
    if (place === -1 || target === null) return
    const rows = listOf(select.valuesLists).map((row) => listOf((row.List as Tree).items))
    const terms =
      rows.length > 0
        ? rows.map((row) => this.#term(row[place], inner))
        : [this.#term((listOf(select.targetList)[place]?.ResTarget as Tree)?.val as Tree, inner)]
    if (terms.every((term) => term !== null)) this.#same([target, ...terms])
  }

  #with({ withClause }: Tree, scope: Scope): void {
    for (const { CommonTableExpr } of listOf((withClause as Tree | undefined)?.ctes)) {
      const { ctename, ctequery } = CommonTableExpr as Tree
      // A recursive query has the organization that it begins with.
      scope.queries.set(String(ctename), { same: null })
      const own = scope.queries.get(String(ctename)) as Term
      const term = this.statement(ctequery as Tree, scope)
      if (term === null) scope.queries.set(String(ctename), null)
      else this.#same([own, term])
    }
  }

  #from(item: Tree, scope: Scope): void {
    const [[kind, body] = ['', {}]] = Object.entries(item) as [string, Tree][]
    const name =
      ((body.alias as Tree | undefined)?.aliasname as string | undefined) ?? `(${scope.relations.size})`
    switch (kind) {
      case 'RangeVar':
        this.#table(body, scope)
        return
      case 'RangeSubselect': {
        scope.relations.set(name, this.statement(body.subquery as Tree, scope))
        return
      }
      case 'RangeFunction': {
        this.#expressions(body, scope)
        const columns = JSON.stringify([body.alias, body.coldeflist, body.functions])
        const [first] = calledIn(body.functions)
        // What a function of the schema returns is of the organization that it is called for.
        const own = first === undefined ? null : this.#term(first, scope)
        scope.relations.set(name, own ?? (columns.includes('"organization_id"') ? { same: null } : null))
        return
      }
      case 'JoinExpr':
        this.#from(body.larg as Tree, scope)
        this.#from(body.rarg as Tree, scope)
        this.#conditions(body.quals, scope)
        if (JSON.stringify(body.usingClause ?? []).includes('"organization_id"'))
          this.#same([...scope.relations.values()])
    }
  }

  #table(body: Tree, scope: Scope): Term | null {
    const relation = String(body.relname)
    const name = String((body.alias as Tree | undefined)?.aliasname ?? relation)
    const query = scope.find('queries', relation)
    if (query !== undefined) {
      scope.relations.set(name, query)
      return query
    }
    scope.hasTable ||= !ofNone.test(relation)
    const term = ofNone.test(relation) ? null : { same: null }
    if (term !== null) this.#needed.push({ name: relation, term })
    scope.relations.set(name, term)
    return term
  }

  /** Conditions of every row: conjunctions, equalities. */
  #conditions(tree: unknown, scope: Scope): void {
    if (tree === undefined) return
    const { BoolExpr: bool, A_Expr: compared, BooleanTest: tested } = tree as Record<string, Tree | undefined>
    if (tested?.booltesttype === 'IS_TRUE') {
      this.#conditions(tested.arg, scope)
      return
    }
    if (bool?.boolop === 'AND_EXPR') {
      for (const part of listOf(bool.args)) this.#conditions(part, scope)
      return
    }
    if (compared?.kind === 'AEXPR_OP' && JSON.stringify(compared.name) === '[{"String":{"sval":"="}}]') {
      const sides = [compared.lexpr, compared.rexpr].map((side) => rowOf(side as Tree))
      const [left = [], right = []] = sides
      left.forEach((one, n) => {
        const terms = [this.#term(one, scope), this.#term(right[n], scope)]
        if (terms.every((term) => term !== null)) this.#same(terms)
      })
    }
    this.#expressions(tree, scope)
  }

  /** Subqueries and calls of the schema's functions, anywhere. */
  #expressions(tree: unknown, scope: Scope): void {
    if (Array.isArray(tree)) for (const one of tree) this.#expressions(one, scope)
    if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return
    if ('SelectStmt' in tree) {
      this.statement(tree as Tree, scope)
      return
    }
    const { FuncCall: call } = tree as { FuncCall?: Tree }
    const name = nameOf(call)
    if (ofSchema.test(name) && !ofInstallation.test(name)) {
      const first = this.#term(listOf(call?.args)[0], scope)
      // A router reads the `from` of a statement; what a function calls runs where the function does.
      const term = scope.hasTable || first?.variable !== undefined ? first : null
      this.#needed.push({ name: `${name.replace(ofSchema, '')}()`, term: term ?? { same: null } })
    }
    for (const one of Object.values(tree)) this.#expressions(one, scope)
  }

  #output(targets: readonly Tree[], scope: Scope): Term | null {
    for (const { ResTarget } of targets) {
      const { name, val } = ResTarget as Tree
      const fields = listOf(((val as Tree)?.ColumnRef as Tree | undefined)?.fields)
      const own = (fields.at(-1)?.String as Tree | undefined)?.sval
      if ((name ?? own) === 'organization_id') return this.#term(val as Tree, scope)
    }
    return null
  }

  /** The organization whose id an expression is; null: none, or several. */
  #term(tree: Tree | undefined, scope: Scope): Term | null {
    if (tree === undefined) return null
    const [[kind, body] = ['', {}]] = Object.entries(tree) as [string, Tree][]
    switch (kind) {
      case 'TypeCast':
        return this.#term(body.arg as Tree, scope)
      case 'ParamRef': {
        const parameter = Number(body.number)
        return kept(this.#parameters, parameter, { same: null, parameter })
      }
      case 'ColumnRef': {
        const names = listOf(body.fields).map((field) => String((field.String as Tree | undefined)?.sval))
        const [first = '', last = first] = names
        if (last === 'organization_id' && names.length === 2) {
          const term = scope.find('relations', first)
          return term === undefined
            ? kept(this.#variables, names.join('.'), { same: null, variable: names.join('.') })
            : term
        }
        if (names.length > 1) return null
        if (first === 'organization_id') return scope.only
        return /organization_id$/.test(first)
          ? kept(this.#variables, first, { same: null, variable: first })
          : null
      }
      default:
        return null
    }
  }

  #same(terms: readonly (Term | null)[]): Term | null {
    const [first = null, ...others] = terms.filter((term) => term !== null)
    if (first === null || terms.includes(null)) return null
    for (const other of others) if (rootOf(other) !== rootOf(first)) rootOf(other).same = rootOf(first)
    return first
  }
}

function kept<K>(terms: Map<K, Term>, key: K, made: Term): Term {
  const known = terms.get(key)
  if (known !== undefined) return known
  terms.set(key, made)
  return made
}

function rowOf(side: Tree): readonly Tree[] {
  const row = side.RowExpr as Tree | undefined
  return row === undefined ? [side] : listOf(row.args)
}

function listOf(list: unknown): readonly Tree[] {
  return Array.isArray(list) ? list : []
}

package dsel

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar. Participle reads one declaration, statement head or kernel item at
// a time; parse.go fills in the bodies between braces.

// word is a token with its place.
type word struct {
	Pos  lexer.Position
	Text string `parser:"@Ident"`
}

type text struct {
	Pos  lexer.Position
	Text string `parser:"@String"`
}

type decl struct {
	Pos     lexer.Position
	Header  *headerDecl  `parser:"  'blueprint' @@"`
	Include *text        `parser:"| 'include' @@"`
	Param   *paramDecl   `parser:"| 'param' @@"`
	Let     *letDecl     `parser:"| 'let' @@"`
	Fn      *fnDecl      `parser:"| 'fn' @@"`
	Ranks   *expression  `parser:"| 'ranks' @@"`
	Require *requireDecl `parser:"| 'require' @@"`
	Grid    *gridDecl    `parser:"| 'grid' @@"`
	Group   *groupDecl   `parser:"| 'group' @@"`
	Stream  *streamDecl  `parser:"| 'stream' @@"`
	Target  []*target    `parser:"| 'target' @@+"`
	Meta    *metaDecl    `parser:"| 'meta' @@"`
	Expect  *requireDecl `parser:"| 'expect' @@"`
	Inject  *injectDecl  `parser:"| 'inject' @@"`
	Kernel  *defHead     `parser:"| 'kernel' @@ '{'"`
	Def     *defHead     `parser:"| 'def' @@ '{'"`
	Program bool         `parser:"| @'program' '{'"`

	Body  []*stmt
	Items []*kernelItem
	block *loopBlock
}

type headerDecl struct {
	Name    string `parser:"@String"`
	Version string `parser:"( 'version' @Number )?"`
}

type paramDecl struct {
	Name    *word       `parser:"@@"`
	Type    *word       `parser:"( ':' @@ )?"`
	Default *expression `parser:"'=' @@"`
	Lo      *expression `parser:"( 'range' @@"`
	Hi      *expression `parser:"',' @@ )?"`
	OneOf   *expression `parser:"( 'oneof' @@ )?"`
	Doc     *string     `parser:"( 'doc' @String )?"`
}

type letDecl struct {
	Name  *word       `parser:"@@"`
	Value *expression `parser:"'=' @@"`
}

type fnDecl struct {
	Name   *word       `parser:"@@"`
	Params []*word     `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
	Body   *expression `parser:"'=' @@"`
}

type requireDecl struct {
	Cond    *expression `parser:"@@"`
	Message *string     `parser:"( ',' @String )?"`
}

type gridDecl struct {
	Name *word   `parser:"@@"`
	Axes []*axis `parser:"'axes' @@ ( ',' @@ )*"`
}

type axis struct {
	Name     *word       `parser:"@@"`
	Extent   *expression `parser:"'=' @@"`
	Periodic bool        `parser:"@'periodic'?"`
}

type groupDecl struct {
	Name    *word       `parser:"@@"`
	Members *expression `parser:"( '=' @@"`
	By      *expression `parser:"| 'by' @@ )"`
	Order   *expression `parser:"( 'order' @@ )?"`
}

type streamDecl struct {
	Name *word `parser:"@@"`
	On   *word `parser:"( 'on' @@ )?"`
}

type target struct {
	Pos  lexer.Position
	Kind string `parser:"@( 'machine' | 'network' | 'mapping' )"`
	Name string `parser:"@String"`
}

type metaDecl struct {
	Name  *word  `parser:"@@"`
	Value string `parser:"'=' @String"`
}

type injectDecl struct {
	Kind  string      `parser:"@( 'delay' | 'noise' )"`
	Value *expression `parser:"@@"`
	Of    *text       `parser:"( 'of' @@ )?"`
	On    *expression `parser:"( 'on' @@ )?"`
	When  *expression `parser:"( 'when' @@ )?"`
	Seed  *expression `parser:"( 'seed' @@ )?"`
}

type defHead struct {
	Name   *word   `parser:"@@"`
	Params []*word `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
}

type kernelItem struct {
	Pos    lexer.Position
	Array  *arrayItem  `parser:"  'array' @@"`
	Load   *access     `parser:"| 'load' @@"`
	Store  *access     `parser:"| 'store' @@"`
	Flops  *expression `parser:"| 'flops' @@"`
	Work   *expression `parser:"| 'work' @@"`
	ECM    *ecmClause  `parser:"| 'ecm' @@"`
	Layout *word       `parser:"| 'layout' @@"`
	Source *text       `parser:"| 'source' @@"`
}

type arrayItem struct {
	Name *word         `parser:"@@"`
	Dims []*expression `parser:"( '[' @@ ( ',' @@ )* ']' )+"`
	Type *word         `parser:"':' @@"`
}

type access struct {
	Name *word         `parser:"@@"`
	Dims []*expression `parser:"( '[' @@ ( ',' @@ )* ']' )*"`
}

type stmt struct {
	Pos     lexer.Position
	Let     *letDecl     `parser:"  'let' @@"`
	If      *expression  `parser:"| 'if' @@ '{'"`
	Repeat  *repeatHead  `parser:"| 'repeat' @@ '{'"`
	For     *forHead     `parser:"| 'for' @@ '{'"`
	On      *expression  `parser:"| 'on' @@ '{'"`
	Par     bool         `parser:"| @'par' '{'"`
	Seq     bool         `parser:"| @'seq' '{'"`
	Region  *string      `parser:"| 'region' @String '{'"`
	Wait    *waitStmt    `parser:"| 'wait' @@"`
	WaitAll bool         `parser:"| @'waitall'"`
	Require *requireDecl `parser:"| 'require' @@"`

	// Op and Call have productions of their own.
	Op   *op
	Call *call

	Body []*stmt
	// Else holds the statements of the else branch; one If for `else if`.
	Else []*stmt
	info stmtInfo
}

type repeatHead struct {
	Count *expression `parser:"@@"`
	As    *word       `parser:"( 'as' @@ )?"`
}

type forHead struct {
	Var  *word       `parser:"@@"`
	List *expression `parser:"'in' @@"`
}

type waitStmt struct {
	Refs []*ref `parser:"@@ ( ','? @@ )*"`
}

type call struct {
	Name *word         `parser:"@@"`
	Args []*expression `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
}

// tokens stands for the call in texts: its name.
func (c *call) tokens() []lexer.Token {
	return []lexer.Token{{Type: tokIdent, Value: c.Name.Text, Pos: c.Name.Pos}}
}

// ref is @label, @label[i], @label[*] or @label.prev(k).
type ref struct {
	Pos   lexer.Position
	Label string      `parser:"@Label"`
	All   bool        `parser:"( '[' ( @'*'"`
	Index *expression `parser:"      | @@ ) ']' )?"`
	Prev  bool        `parser:"( '.' @'prev'"`
	Back  *expression `parser:"  ( '(' @@ ')' )? )?"`
	decl  *labelDecl
}

type op struct {
	Pos     lexer.Position
	Label   *ref        `parser:"@@?"`
	Async   bool        `parser:"@'async'?"`
	Verb    *verb       `parser:"( @@"`
	Operand *expression `parser:"  @@?"`
	Halo    *halo       `parser:"| @@ )"`
	Clauses clauseList  `parser:"@@"`
}

// verb is one of verbs but halo, whose operand is of its own kind.
type verb struct {
	Pos  lexer.Position
	Name string
}

// Parse takes the verb (participle.Parseable): to try one literal after the other
// would cost more than the rest of the statement.
func (v *verb) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokIdent || t.Value == "halo" || !verbSet()[t.Value] {
		return participle.NextMatch
	}
	v.Pos, v.Name = t.Pos, t.Value
	lex.Next()
	return nil
}

type halo struct {
	Pos   lexer.Position
	Verb  string      `parser:"@'halo'"`
	Grid  *word       `parser:"@@"`
	Items []*haloItem `parser:"'[' @@ ( ',' @@ )* ']'"`
}

type haloItem struct {
	Axis *word       `parser:"@@"`
	Size *expression `parser:"':' @@"`
}

type clause struct {
	Pos    lexer.Position
	Pair   *valueClause
	After  []*ref     `parser:"  'after' @@ ( ',' @@ )*"`
	Name   *string    `parser:"| 'name' @String"`
	Over   *groupRef  `parser:"| 'over' @@"`
	Each   bool       `parser:"| @'each'"`
	Option string     `parser:"| @( 'algo' | 'stream' | 'on' | 'precision' | 'proto' )"`
	Word   *word      `parser:"  @@"`
	Kernel *call      `parser:"| 'kernel' @@"`
	Source *sourceRef `parser:"| 'source' @@"`
	ECM    *ecmClause `parser:"| 'ecm' @@"`
}

// valueClause is a clause of a word and a value.
type valueClause struct {
	Key  string
	Any  bool
	Expr *expression
	// missing is the token that stands where the value should.
	missing *lexer.Token
}

// clauseList is all clauses of an operation. Their first words tell them apart, so
// that nothing has to be tried; err is the fault of the last one.
type clauseList struct {
	list []*clause
	err  error
}

// Parse reads clauses as long as there are some (participle.Parseable). An error
// that it returned would be lost among the alternatives.
func (l *clauseList) Parse(lex *lexer.PeekingLexer) error {
	for l.err == nil {
		t := lex.Peek()
		if t.Type != tokIdent || !opClauses()[t.Value] {
			break
		}
		c := &clause{Pos: t.Pos}
		if valueWords()[t.Value] {
			c.Pair = readValue(lex)
		} else if c, l.err = grammar().clause.ParseFromLexer(lex, participle.AllowTrailing(true)); l.err != nil {
			break
		}
		l.list = append(l.list, c)
	}
	return nil
}

// any reports whether the clause's value is any.
func (c *clause) any() bool { return c.Pair != nil && c.Pair.Any }

// value is the clause's expression; nil for any and for clauses without one.
func (c *clause) value() *expression {
	if c.Pair == nil {
		return nil
	}
	return c.Pair.Expr
}

// missing returns the token that stands where a clause needs a value, or nil.
func (o *op) missing() *lexer.Token {
	for _, c := range o.Clauses.list {
		if c.Pair != nil && c.Pair.missing != nil {
			return c.Pair.missing
		}
	}
	return nil
}

func readValue(lex *lexer.PeekingLexer) *valueClause {
	c := &valueClause{Key: lex.Next().Value}
	if t := lex.Peek(); t.Type == tokIdent && t.Value == "any" {
		c.Any = true
		lex.Next()
		return c
	}
	c.Expr = &expression{}
	if err := c.Expr.Parse(lex); err != nil {
		c.Expr, c.missing = nil, lex.Peek()
	}
	return c
}

type sourceRef struct {
	File   string    `parser:"@String"`
	Define []*assign `parser:"( 'define' @@ ( ',' @@ )* )?"`
}

type groupRef struct {
	Pos  lexer.Position
	Name string  `parser:"@Ident"`
	Axes []*word `parser:"( '[' @@ ( ',' @@ )* ']' )?"`
}

// ecmClause is a recorded label or the terms in parentheses.
type ecmClause struct {
	Pos   lexer.Position
	Label string    `parser:"  @Ident"`
	Str   string    `parser:"| @String"`
	Terms []*assign `parser:"| '(' @@ ( ',' @@ )* ')'"`
}

type assign struct {
	Name  *word       `parser:"@@"`
	Value *expression `parser:"'=' @@"`
}

// grammars are the productions that parse.go calls. They are immutable and built
// once, on first use.
type grammars struct {
	decl *participle.Parser[decl]
	stmt *participle.Parser[stmt]
	op   *participle.Parser[op] // a statement by itself: most are operations
	item *participle.Parser[kernelItem]
	// clause reads the clauses that have more than a value.
	clause *participle.Parser[clause]
	call   *participle.Parser[call]
}

var grammar = sync.OnceValue(func() *grammars {
	lex := participle.Lexer(lexicon{})
	return &grammars{participle.MustBuild[decl](lex), participle.MustBuild[stmt](lex), participle.MustBuild[op](lex),
		participle.MustBuild[kernelItem](lex), participle.MustBuild[clause](lex), participle.MustBuild[call](lex)}
})

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
	Op      *op          `parser:"| @@"`
	Call    *call        `parser:"| @@"`

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
	Halo    *halo       `parser:"( @@"`
	Verb    *verb       `parser:"| @@"`
	Operand *expression `parser:"  @@? )"`
	Clauses []*clause   `parser:"@@*"`
}

type verb struct {
	Pos  lexer.Position
	Name string `parser:"@( 'compute' | 'delay' | 'load' | 'store' | 'mark' | 'send' | 'isend' | 'recv' | 'irecv' | 'sendrecv' | 'transfer' | 'exchange' | 'barrier' | 'bcast' | 'reduce' | 'allreduce' | 'gather' | 'allgather' | 'scatter' | 'reducescatter' | 'alltoall' | 'alltoallv' )"`
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
	After  []*ref      `parser:"  'after' @@ ( ',' @@ )*"`
	Over   *groupRef   `parser:"| 'over' @@"`
	Name   *string     `parser:"| 'name' @String"`
	Each   bool        `parser:"| @'each'"`
	Option string      `parser:"| @( 'algo' | 'stream' | 'on' | 'precision' | 'proto' )"`
	Word   *word       `parser:"  @@"`
	Kernel *call       `parser:"| 'kernel' @@"`
	Source *sourceRef  `parser:"| 'source' @@"`
	ECM    *ecmClause  `parser:"| 'ecm' @@"`
	Key    string      `parser:"| @( 'to' | 'from' | 'tag' | 'root' | 'bytes' | 'flops' | 'work' | 'cores' | 'for' | 'with' | 'rsize' | 'rtag' | 'per' )"`
	Any    bool        `parser:"  ( @'any'"`
	Value  *expression `parser:"  | @@ )"`
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
}

var grammar = sync.OnceValue(func() *grammars {
	lex := participle.Lexer(lexicon{})
	return &grammars{participle.MustBuild[decl](lex), participle.MustBuild[stmt](lex), participle.MustBuild[op](lex),
		participle.MustBuild[kernelItem](lex)}
})

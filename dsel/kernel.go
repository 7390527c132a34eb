package dsel

import (
	"slices"

	"hybrid/internal/diag"
)

// kernel is a declared loop kernel. Its roofline work is the flops it states and
// the memory traffic of its loads and stores; a stored array that is not loaded
// is read, too, before it is written (write-allocate), unless the layout is
// streaming.
type kernel struct {
	decl *decl
}

// elementSizes are the array types and their bytes.
func elementSizes() map[string]int64 {
	return map[string]int64{"double": 8, "float": 4, "half": 2, "bfloat": 2, "int": 4, "long": 8, "byte": 1, "complex": 8, "dcomplex": 16}
}

// kernelWork is a kernel's work for one call.
type kernelWork struct {
	flops, bytes, units *operand
	ecm                 *ecmTerms
}

// kernelWork compiles a kernel for the arguments of one call.
func (l *loader) kernelWork(sym *symbol, c *call, s *scope) *kernelWork {
	d := sym.kernel.decl
	if len(c.Args) != len(d.Kernel.Params) {
		l.list.Errorf("E213", posOfWord(c.Name), "kernel %s needs %d arguments, not %d", sym.name, len(d.Kernel.Params), len(c.Args))
		return nil
	}
	inner := &scope{parent: l.root}
	for i, a := range c.Args {
		k := l.compile(a, s)
		if k.kind == kindBad {
			return nil
		}
		if !k.numeric() {
			l.list.Errorf("E220", a.pos(), "a kernel's argument is a number, not %s", k.typ)
			return nil
		}
		p := d.Kernel.Params[i]
		inner.value(p.Text, "parameter", posOfWord(p), new(bool), k)
	}
	b := &kernelBuilder{l: l, scope: inner, d: d, arrays: map[string]*arrayUse{}, ok: true, work: &kernelWork{}}
	for _, it := range d.Items {
		b.item(it)
	}
	return b.finish(posOfWord(c.Name), c)
}

type kernelBuilder struct {
	l         *loader
	scope     *scope
	d         *decl
	arrays    map[string]*arrayUse
	bytes     *code
	stores    []*access
	streaming bool
	ok        bool
	work      *kernelWork
}

type arrayUse struct {
	size   int64
	code   *code // its bytes
	loaded bool
}

func (b *kernelBuilder) item(it *kernelItem) {
	if (it.Flops != nil && b.work.flops != nil) || (it.Work != nil && b.work.units != nil) || (it.ECM != nil && b.work.ecm != nil) {
		b.l.list.Errorf("E240", posOf(it.Pos), "the kernel states this twice")
		b.ok = false
		return
	}
	switch {
	case it.Array != nil:
		b.array(it.Array)
	case it.Load != nil:
		if a := b.use(it.Load); a != nil {
			a.loaded = true
		}
	case it.Store != nil:
		b.stores = append(b.stores, it.Store)
		b.use(it.Store)
	case it.Flops != nil:
		b.work.flops = b.l.operand(it.Flops, b.scope, roleFlops)
		b.ok = b.ok && b.work.flops != nil
	case it.Work != nil:
		b.work.units = b.l.operand(it.Work, b.scope, roleWork)
		b.ok = b.ok && b.work.units != nil
	case it.ECM != nil:
		b.work.ecm = b.l.ecm(it.ECM, b.scope)
		b.ok = b.ok && b.work.ecm != nil
	case it.Layout != nil:
		if it.Layout.Text != "streaming" {
			b.l.list.Errorf("E205", posOfWord(it.Layout), "not supported yet: layout %s; the one layout is streaming (stores bypass the caches)", it.Layout.Text)
			b.ok = false
		}
		b.streaming = true
	case it.Source != nil:
		b.l.list.Errorf("E205", posOf(it.Pos), "not supported yet: kernels analysed from their source")
		b.ok = false
	}
}

func (b *kernelBuilder) array(a *arrayItem) {
	size, known := elementSizes()[a.Type.Text]
	if !known {
		names := []string{"double", "float", "half", "bfloat", "int", "long", "byte", "complex", "dcomplex"}
		b.l.list.Errorf("E220", posOfWord(a.Type), "unknown element type %q%s", a.Type.Text, diag.DidYouMean(a.Type.Text, names))
		b.ok = false
		return
	}
	if b.arrays[a.Name.Text] != nil {
		b.l.list.Errorf("E212", posOfWord(a.Name), "array %s is declared twice", a.Name.Text)
		b.ok = false
		return
	}
	b.arrays[a.Name.Text] = &arrayUse{size: size, code: b.elements(a.Dims, size)}
}

// elements multiplies extents and the element size.
func (b *kernelBuilder) elements(dims []*expression, size int64) *code {
	total := constant(size, typ{dims: byteDims()})
	for _, e := range dims {
		o := b.l.operand(e, b.scope, roleCount)
		if o == nil {
			b.ok = false
			return badCode()
		}
		total = product(total, o.code)
	}
	return total
}

// product multiplies two numbers, exactly where both are whole.
func product(a, b *code) *code {
	out := &code{typ: typ{kind: kindFloat, dims: a.dims.times(b.dims, 1)}, dep: a.dep | b.dep, size: a.size + b.size + 1}
	if a.i != nil && b.i != nil {
		out.kind = kindInt
		out.i = combine(a.i, b.i, mulInt, diag.Pos{})
		return out.fold()
	}
	out.f = floatOp("*", a.asFloat(), b.asFloat())
	return out.fold()
}

func total(a, b *code) *code {
	if a == nil {
		return b
	}
	out := &code{typ: typ{kind: kindFloat, dims: a.dims}, dep: a.dep | b.dep, size: a.size + b.size + 1}
	if a.i != nil && b.i != nil {
		out.kind = kindInt
		out.i = combine(a.i, b.i, addInt, diag.Pos{})
		return out.fold()
	}
	out.f = floatOp("+", a.asFloat(), b.asFloat())
	return out.fold()
}

// use adds the traffic of one load or store.
func (b *kernelBuilder) use(a *access) *arrayUse {
	u := b.arrays[a.Name.Text]
	if u == nil {
		var names []string
		for n := range b.arrays {
			names = append(names, n)
		}
		slices.Sort(names)
		b.l.list.Errorf("E210", posOfWord(a.Name), "unknown array %q%s", a.Name.Text, diag.DidYouMean(a.Name.Text, names))
		b.ok = false
		return nil
	}
	k := u.code
	if len(a.Dims) > 0 {
		k = b.elements(a.Dims, u.size)
	}
	if k.kind != kindBad {
		b.bytes = total(b.bytes, k)
	}
	return u
}

func (b *kernelBuilder) finish(at diag.Pos, c *call) *kernelWork {
	if !b.streaming {
		for _, s := range b.stores {
			if u := b.arrays[s.Name.Text]; u != nil && !u.loaded {
				b.use(s)
			}
		}
	}
	if !b.ok {
		return nil
	}
	w := b.work
	src := &expression{tokens: c.tokens()}
	if b.bytes != nil {
		w.bytes = &operand{code: b.bytes, role: roleBytes, ranks: b.l.ranks, src: src, at: at}
	}
	switch {
	case w.ecm != nil && w.units == nil:
		b.l.list.Errorf("E240", at, "kernel %s has ecm but no work", c.Name.Text)
		return nil
	case w.ecm == nil && w.flops == nil && w.bytes == nil:
		b.l.list.Errorf("E240", at, "kernel %s states no flops, no loads and no stores", c.Name.Text)
		return nil
	}
	return w
}

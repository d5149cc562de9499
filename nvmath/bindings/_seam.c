/* The foreign-call seam: bind(address, ..., signature) -> a builtin that checks its arguments, releases the GIL
 * and calls the address. One stable-ABI file serves every library; _seam_ctypes.py does the same without a compiler.
 * prepare(...) -> a builtin that takes nothing but arrays, looks whether they are what it was made for, and makes the
 * result too; without a compiler there is none.
 *
 * Why one call type is enough: the Linux conventions (System V x86-64, AAPCS64) pass integers and pointers in one
 * sequence (registers, then 8-byte stack words) and the first eight floating-point arguments in another, whatever the
 * order in which they are declared; surplus arguments are ignored because the caller cleans up. So each function is
 * called with its integer words followed by up to eight doubles. _seam.py sends what a platform passes otherwise
 * through ctypes.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_WORDS 32
#define MAX_FLOATS 8
#define MAX_DIMENSIONS 64

typedef uint64_t word;
_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "the seam needs a 64-bit platform");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the seam needs a little-endian platform"
#endif

/* What hardly any call needs, and what every call runs through. */
#if defined(__GNUC__)
#define COLD __attribute__((cold, noinline))
#define HOT inline __attribute__((always_inline))
#else
#define COLD
#define HOT inline
#endif

enum { SCALAR, ARRAY, OUT };

typedef struct {
    char kind; /* SCALAR, ARRAY or OUT */
    char code; /* one of the letters of CODES */
    char at;   /* index into the words, or into the doubles for f and d scalars */
    char out;  /* OUT: index of its result */
    char item; /* memory: the letter of its items, or 0 for any */
} Slot;

/* The state of a module object, one for each function: a builtin has its plain name, and is pickled by it, if its self
 * is a module. */
typedef struct {
    void *address;      /* NULL before the first call, if there is an opener */
    PyObject *opener;   /* returns the address, or another callable that takes the arguments this time; or NULL */
    PyObject *names;    /* tuple of str, one per Python argument */
    PyObject *on_error; /* called with a nonzero status; raises */
    PyObject *title;    /* str, what errors call the function */
    int n_slots, n_arguments, n_words, n_floats, n_outs, n_arrays;
    int n_passed; /* words of the widest call that call_address may choose */
    char plain;  /* whether every slot is a scalar in a word */
    char result; /* a letter, 'v' for void, '!' for status */
    Slot slots[MAX_WORDS + MAX_FLOATS];
    char *name, *doc;
    PyMethodDef method;
} Bound;

typedef struct {
    void *memory;
    PyObject *keep;
    Py_buffer view;
    int viewed;
} Temporary;

typedef struct {
    word words[MAX_WORDS];
    double floats[MAX_FLOATS];
    word outs[MAX_WORDS];
    Temporary *temporaries; /* as many as the function has arrays, once one is needed */
    int n_temporaries;
} Call;

/* ------------------------------------------------------------------------------------------------ calling */

#define T4 word, word, word, word
#define T8 T4, T4
#define T16 T8, T8
#define T32 T16, T16
#define D8 double, double, double, double, double, double, double, double
#define A4(i) w[i], w[i + 1], w[i + 2], w[i + 3]
#define A8(i) A4(i), A4(i + 4)
#define A16(i) A8(i), A8(i + 8)
#define F8 d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]

static word call_words(void *f, int n, const word *w)
{
    if (n <= 4)
        return ((word(*)(T4))f)(A4(0));
    if (n <= 8)
        return ((word(*)(T8))f)(A8(0));
    if (n <= 12)
        return ((word(*)(T8, T4))f)(A8(0), A4(8));
    if (n <= 16)
        return ((word(*)(T16))f)(A16(0));
    return ((word(*)(T32))f)(A16(0), A16(16));
}

static word call_mixed(void *f, int n, const word *w, const double *d)
{
    if (n <= 8)
        return ((word(*)(T8, D8))f)(A8(0), F8);
    if (n <= 16)
        return ((word(*)(T16, D8))f)(A16(0), F8);
    return ((word(*)(T32, D8))f)(A16(0), A16(16), F8);
}

static word call_floating(void *f, char result, int n, const word *w, const double *d)
{
    word bits = 0;
    if (result == 'd') {
        double value = n <= 8 ? ((double (*)(T8, D8))f)(A8(0), F8) : ((double (*)(T32, D8))f)(A16(0), A16(16), F8);
        memcpy(&bits, &value, sizeof value);
    } else {
        float value = n <= 8 ? ((float (*)(T8, D8))f)(A8(0), F8) : ((float (*)(T32, D8))f)(A16(0), A16(16), F8);
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

static inline word call_address(const Bound *b, void *address, const word *words, const double *floats)
{
    if (b->result == 'f' || b->result == 'd')
        return call_floating(address, b->result, b->n_words, words, floats);
    if (b->n_floats)
        return call_mixed(address, b->n_words, words, floats);
    return call_words(address, b->n_words, words);
}

/* ------------------------------------------------------------------------------------------------ scalars in */

static const char *describe(char code)
{
    switch (code) {
    case 'i': return "an int in -2**31..2**31-1 (i32)";
    case 'I': return "an int in 0..2**32-1 (u32)";
    case 'q': return "an int in -2**63..2**63-1 (i64)";
    case 'Q': return "an int in 0..2**64-1 (u64)";
    case 'N': return "an int in 0..2**64-1 (usize)";
    case 'P': return "an address, an int in 0..2**64-1, or None";
    case 'b': return "an int in -128..255 or one character (char)";
    case 'f': return "a real number (f32)";
    case 'd': return "a real number (f64)";
    case 'F': return "a complex number (c64)";
    case 'D': return "a complex number (c128)";
    case 'v': return "an address (int), None or a contiguous buffer";
    case 'w': return "an address (int), None or a contiguous buffer that can be written";
    default: return "a str or bytes without NUL, or None";
    }
}

/* Replaces a TypeError or OverflowError of the conversion by one that names function and parameter; any other error
 * (raised by an argument's own __index__, say) is kept. With no error set the value had the right type but is unfit. */
static void refuse(const Bound *b, Py_ssize_t argument, Py_ssize_t element, char code, PyObject *got)
{
    int text = PyUnicode_Check(got) || PyBytes_Check(got);
    PyObject *kind = PyExc_OverflowError;
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            kind = PyExc_TypeError;
        else if (PyErr_ExceptionMatches(PyExc_ValueError) && (code == 'v' || code == 'w'))
            kind = PyExc_ValueError;
        else if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return;
        PyErr_Clear();
    } else if (code == 's' || code == 'b')
        kind = text ? PyExc_ValueError : code == 's' ? PyExc_TypeError : PyExc_OverflowError;
    PyObject *name = PyTuple_GetItem(b->names, argument);
    if (!name)
        return;
    if (element >= 0)
        PyErr_Format(kind, "%U(): element %zd of '%U' must be %s, got %R", b->title, element, name, describe(code),
                     got);
    else
        PyErr_Format(kind, "%U(): '%U' must be %s, got %R", b->title, name, describe(code), got);
}

/* Exact ints take the first branch; everything else that has __index__ takes the second. */
static int signed_from(PyObject *o, int64_t *value)
{
    Py_ssize_t v = PyLong_AsSsize_t(o);
    if (v == -1 && PyErr_Occurred()) {
        if (PyLong_Check(o))
            return -1;
        PyErr_Clear();
        PyObject *index = PyNumber_Index(o);
        if (!index)
            return -1;
        v = PyLong_AsSsize_t(index);
        Py_DECREF(index);
        if (v == -1 && PyErr_Occurred())
            return -1;
    }
    *value = v;
    return 0;
}

static COLD int unsigned_from_index(PyObject *o, word *value)
{
    *value = (size_t)-1;
    if (!PyErr_Occurred())
        return 0;
    if (PyLong_Check(o))
        return -1;
    PyErr_Clear();
    PyObject *index = PyNumber_Index(o);
    if (!index)
        return -1;
    *value = PyLong_AsSize_t(index);
    Py_DECREF(index);
    return *value == (size_t)-1 && PyErr_Occurred() ? -1 : 0;
}

static HOT int unsigned_from(PyObject *o, word *value)
{
    size_t v = PyLong_AsSize_t(o);
    if (v == (size_t)-1)
        return unsigned_from_index(o, value);
    *value = v;
    return 0;
}

static int char_from(PyObject *o, word *value)
{
    Py_ssize_t size = 0;
    const char *text = NULL;
    int64_t v;
    if (PyUnicode_Check(o))
        text = PyUnicode_AsUTF8AndSize(o, &size);
    else if (PyBytes_Check(o))
        (void)PyBytes_AsStringAndSize(o, (char **)&text, &size);
    else if (signed_from(o, &v) == 0 && v >= -128 && v <= 255) {
        *value = (word)v; /* extended as given: right for signed and for unsigned char */
        return 0;
    }
    if (!text || size != 1)
        return -1;
    *value = (word)(int64_t)text[0];
    return 0;
}

static int text_from(PyObject *o, word *value)
{
    Py_ssize_t size = 0;
    const char *text = NULL;
    if (o == Py_None) {
        *value = 0;
        return 0;
    }
    if (PyUnicode_Check(o))
        text = PyUnicode_AsUTF8AndSize(o, &size);
    else if (PyBytes_Check(o))
        (void)PyBytes_AsStringAndSize(o, (char **)&text, &size);
    if (!text || strlen(text) != (size_t)size)
        return -1;
    *value = (word)(uintptr_t)text;
    return 0;
}

static int floating_from(PyObject *o, char code, double *value)
{
    double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred())
        return -1;
    if (code == 'f') {
        float narrow = (float)v;
        v = 0.0;
        memcpy(&v, &narrow, sizeof narrow); /* a float travels in the low half of its register */
    }
    *value = v;
    return 0;
}

/* By value: two floats share the low register on x86-64 and have one each elsewhere; two doubles have one each. */
#if defined(__x86_64__)
#define WORDS_OF_C64 1
#else
#define WORDS_OF_C64 2
#endif

static int complex_from(PyObject *o, char code, double *value)
{
    if (PyUnicode_Check(o) || PyBytes_Check(o)) { /* complex() would read them */
        PyErr_SetNone(PyExc_TypeError);
        return -1;
    }
    PyObject *number = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, o, NULL);
    if (!number)
        return -1;
    double parts[2] = {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
    Py_DECREF(number);
    if (code == 'D') {
        memcpy(value, parts, sizeof parts);
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        float narrow = (float)parts[k];
        char *to = WORDS_OF_C64 == 1 ? (char *)value + k * sizeof narrow : (char *)(value + k);
        memcpy(to, &narrow, sizeof narrow);
    }
    return 0;
}

/* The address that a pointer of ctypes holds: 1, or 0 for anything else; _addresses.py decides. */
static COLD int foreign_address(PyObject *o, word *value)
{
    PyObject *addresses = PyImport_ImportModule("nvmath.bindings._addresses");
    PyObject *answer = addresses ? PyObject_CallMethod(addresses, "foreign_address", "O", o) : NULL;
    Py_XDECREF(addresses);
    if (!answer)
        return -1;
    int taken = answer == Py_None ? 0 : unsigned_from(answer, value) < 0 ? -1 : 1;
    Py_DECREF(answer);
    return taken;
}

static int has_length(PyObject *o)
{
    return PyType_GetSlot(Py_TYPE(o), Py_sq_length) || PyType_GetSlot(Py_TYPE(o), Py_mp_length);
}

/* 1: an address, 0: memory or a sequence, -1: an error. The same as address_of() in _addresses.py, which is asked only
 * about what may be a pointer of ctypes: their types have a metaclass, and references have neither buffer nor length. */
static int address_from(PyObject *o, word *value)
{
    if (o == Py_None) {
        *value = 0;
        return 1;
    }
    if (PyLong_Check(o) || (PyIndex_Check(o) && !has_length(o)))
        return unsigned_from(o, value) < 0 ? -1 : 1;
    if (Py_TYPE((PyObject *)Py_TYPE(o)) == &PyType_Type && (PyObject_CheckBuffer(o) || has_length(o)))
        return 0;
    return foreign_address(o, value);
}

/* What has no integer, and an error set, may still be a pointer of ctypes. */
static COLD int pointer_from_other(PyObject *o, word *value)
{
    if (PyLong_Check(o) || !PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    int taken = foreign_address(o, value);
    if (taken == 0)
        PyErr_SetNone(PyExc_TypeError);
    return taken > 0 ? 0 : -1;
}

static HOT int word_from(PyObject *o, char code, word *value)
{
    int64_t v;
    switch (code) {
    case 'P':
        if (o == Py_None) {
            *value = 0;
            return 0;
        }
        return unsigned_from(o, value) == 0 ? 0 : pointer_from_other(o, value);
    case 'i':
        if (signed_from(o, &v) < 0 || v < INT32_MIN || v > INT32_MAX)
            return -1;
        *value = (word)v;
        return 0;
    case 'q':
        if (signed_from(o, &v) < 0)
            return -1;
        *value = (word)v;
        return 0;
    case 'Q':
    case 'N': return unsigned_from(o, value);
    case 'I': return unsigned_from(o, value) < 0 || *value > UINT32_MAX ? -1 : 0;
    case 'b': return char_from(o, value);
    default: return text_from(o, value);
    }
}

/* ------------------------------------------------------------------------------------------------ arrays in */

static size_t size_of(char code)
{
    return code == 'b' ? 1 : code == 'i' || code == 'I' || code == 'f' ? 4 : 8;
}

static int store_element(PyObject *o, char code, char *to)
{
    if (code == 'f' || code == 'd') {
        double v;
        if (floating_from(o, code, &v) < 0)
            return -1;
        memcpy(to, &v, size_of(code));
        return 0;
    }
    word w;
    if (word_from(o, code, &w) < 0)
        return -1;
    memcpy(to, &w, size_of(code)); /* little-endian: the low bytes come first */
    return 0;
}

/* How the items of a buffer are laid out, without the mark of this machine's own byte order. */
static const char *format_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    return *format == '@' || *format == '=' || *format == '<' ? format + 1 : format;
}

/* Whether a buffer's items are the C type already. */
static int same_items(const Py_buffer *view, char code)
{
    const char *format = format_of(view);
    if (code == 'F' || code == 'D')
        return strcmp(format, code == 'F' ? "Zf" : "Zd") == 0;
    if (format[0] == '\0' || format[1] != '\0' || (size_t)view->itemsize != size_of(code))
        return 0;
    switch (code) {
    case 'i':
    case 'q': return strchr("ilqn", *format) != NULL;
    case 'I':
    case 'Q':
    case 'N': return strchr("ILQN", *format) != NULL;
    case 'P': return strchr("ILQNPlqn", *format) != NULL;
    case 'b': return strchr("bBc", *format) != NULL;
    case 'f':
    case 'd': return *format == code;
    default: return 0;
    }
}

/* Of an object without dimensions: whether it might be meant as an address. */
static int is_integer(PyObject *o)
{
    PyObject *index = PyIndex_Check(o) ? PyNumber_Index(o) : NULL;
    PyErr_Clear();
    Py_XDECREF(index);
    return index != NULL;
}

/* 1: taken, 0: not such a buffer. A writable buffer is passed as it is, a read-only one is copied: C may write. */
static int array_from_buffer(PyObject *o, char code, Temporary *t, word *value)
{
    if (!PyObject_CheckBuffer(o))
        return 0;
    if (PyObject_GetBuffer(o, &t->view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return 0;
    }
    t->viewed = 1;
    if (!same_items(&t->view, code) || (t->view.ndim == 0 && is_integer(o))) {
        PyBuffer_Release(&t->view);
        t->viewed = 0;
        return 0;
    }
    *value = (word)(uintptr_t)t->view.buf;
    if (t->view.readonly) {
        t->memory = PyMem_Malloc(t->view.len ? (size_t)t->view.len : 1);
        if (!t->memory) {
            PyErr_NoMemory();
            return -1;
        }
        memcpy(t->memory, t->view.buf, (size_t)t->view.len);
        *value = (word)(uintptr_t)t->memory;
    }
    return 1;
}

static int array_from_items(const Bound *b, Py_ssize_t argument, PyObject *o, char code, Temporary *t, word *value)
{
    PyObject *items = PyUnicode_Check(o) ? NULL : PySequence_Tuple(o);
    if (!items) {
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        PyObject *name = PyTuple_GetItem(b->names, argument);
        if (name)
            PyErr_Format(PyExc_TypeError, "%U(): '%U' must be an address (int), None, a sequence or a buffer, got %R",
                         b->title, name, o);
        return -1;
    }
    t->keep = items; /* text elements point into it */
    Py_ssize_t n = PyTuple_Size(items);
    size_t size = size_of(code);
    t->memory = PyMem_Malloc(n ? (size_t)n * size : 1);
    if (!t->memory) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = PyTuple_GetItem(items, k);
        if (store_element(item, code, (char *)t->memory + (size_t)k * size) < 0) {
            refuse(b, argument, k, code, item);
            return -1;
        }
    }
    *value = (word)(uintptr_t)t->memory;
    return 0;
}

/* Whether an object's memory has gaps, or an order that is neither that of C nor that of Fortran. */
static int is_strided(PyObject *o)
{
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return 0;
    }
    int strided = !PyBuffer_IsContiguous(&view, 'A');
    PyBuffer_Release(&view);
    return strided;
}

static void refuse_memory(const Bound *b, Py_ssize_t argument, PyObject *o, char code)
{
    PyObject *name = PyTuple_GetItem(b->names, argument);
    if (!PyObject_CheckBuffer(o)) {
        PyErr_SetNone(PyExc_TypeError);
        refuse(b, argument, -1, code, o);
    } else if (name && is_strided(o))
        PyErr_Format(PyExc_ValueError,
                     "%U(): '%U' must be C-contiguous or F-contiguous (or pass the address of its memory), got %R",
                     b->title, name, o);
    else if (name) {
        PyErr_SetNone(PyExc_ValueError);
        refuse(b, argument, -1, code, o);
    }
}

/* Whether a buffer may hold items of the type that C wants: bytes and structures may hold anything, sizes have any sign. */
static int can_hold(const Py_buffer *view, char item)
{
    char first = *format_of(view);
    return !item || first == 'B' || first == 'c' || first == 'T' || same_items(view, item == 'N' ? 'P' : item);
}

static const char *item_name(char item)
{
    switch (item) {
    case 'i': return "int32";
    case 'I': return "uint32";
    case 'q': return "int64";
    case 'f': return "float32";
    case 'd': return "float64";
    case 'F': return "complex64";
    case 'D': return "complex128";
    default: return "uint64";
    }
}

static COLD void refuse_items(const Bound *b, Py_ssize_t argument, PyObject *o, const Py_buffer *view, char item)
{
    PyObject *name = PyTuple_GetItem(b->names, argument);
    PyObject *found = PyObject_GetAttrString(o, "dtype");
    if (!found) {
        PyErr_Clear();
        found = PyUnicode_FromFormat("the format '%s'", view->format);
    }
    if (name && found)
        PyErr_Format(PyExc_TypeError, "%U(): '%U' must have items of type %s (or be an address), got %S", b->title, name,
                     item_name(item), found);
    Py_XDECREF(found);
}

/* Memory: passed as it is, or refused (a copy would lose what C writes). */
static int memory_from(const Bound *b, Py_ssize_t argument, PyObject *o, const Slot *s, Temporary *t, word *value)
{
    char code = s->code;
    int flags = PyBUF_ANY_CONTIGUOUS | (code == 'w' ? PyBUF_WRITABLE : 0) | (s->item ? PyBUF_FORMAT : 0);
    if (!PyObject_CheckBuffer(o) || PyObject_GetBuffer(o, &t->view, flags) < 0) {
        PyErr_Clear();
        refuse_memory(b, argument, o, code);
        return -1;
    }
    t->viewed = 1;
    *value = (word)(uintptr_t)t->view.buf;
    if (!can_hold(&t->view, s->item)) {
        refuse_items(b, argument, o, &t->view, s->item);
        return -1;
    }
    if (t->view.ndim || !is_integer(o))
        return 0;
    PyErr_SetNone(PyExc_TypeError); /* an integer in an array without dimensions: an address, or memory? */
    refuse(b, argument, -1, code, o);
    return -1;
}

static int array_from(const Bound *b, Py_ssize_t argument, PyObject *o, const Slot *s, Call *call, word *value)
{
    char code = s->code;
    int taken = address_from(o, value);
    if (taken > 0)
        return 0;
    if (taken < 0) {
        refuse(b, argument, -1, code == 'v' || code == 'w' ? code : 'P', o);
        return -1;
    }
    if (!call->temporaries && !(call->temporaries = PyMem_Calloc((size_t)b->n_arrays, sizeof(Temporary)))) {
        PyErr_NoMemory();
        return -1;
    }
    Temporary *t = &call->temporaries[call->n_temporaries++];
    if (code == 'v' || code == 'w')
        return memory_from(b, argument, o, s, t, value);
    taken = array_from_buffer(o, code, t, value);
    return taken ? (taken < 0 ? -1 : 0) : array_from_items(b, argument, o, code, t, value);
}

static void release(Call *call)
{
    for (int k = 0; k < call->n_temporaries; k++) {
        Temporary *t = &call->temporaries[k];
        PyMem_Free(t->memory);
        Py_XDECREF(t->keep);
        if (t->viewed)
            PyBuffer_Release(&t->view);
    }
    PyMem_Free(call->temporaries);
}

/* ------------------------------------------------------------------------------------------------ values out */

static PyObject *value_from(word w, char code)
{
    const char *text = (const char *)(uintptr_t)w;
    float f;
    double d;
    switch (code) {
    case 'i': return PyLong_FromLong((int32_t)(uint32_t)w);
    case 'I': return PyLong_FromUnsignedLong((uint32_t)w);
    case 'q': return PyLong_FromSsize_t((Py_ssize_t)w);
    case 'b': return PyLong_FromLong((signed char)w);
    case 'f': memcpy(&f, &w, sizeof f); return PyFloat_FromDouble(f);
    case 'd': memcpy(&d, &w, sizeof d); return PyFloat_FromDouble(d);
    case 's':
        if (!w)
            Py_RETURN_NONE;
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    case 'v':
    case '!': Py_RETURN_NONE;
    default: return PyLong_FromSize_t((size_t)w);
    }
}

static void raise_status(const Bound *b, word status)
{
    int32_t code = (int32_t)(uint32_t)status;
    PyObject *answer = b->on_error ? PyObject_CallFunction(b->on_error, "i", code) : NULL;
    if (answer) {
        Py_DECREF(answer);
        PyErr_Format(PyExc_RuntimeError, "%U(): status %d, and its error handler raised nothing", b->title, (int)code);
    } else if (!PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError, "%U(): status %d", b->title, (int)code);
}

static PyObject *results(const Bound *b, word returned, const Call *call)
{
    int valued = b->result != 'v' && b->result != '!';
    if (b->n_outs == 0)
        return value_from(returned, b->result);
    if (b->n_outs + valued == 1) {
        for (int k = 0; k < b->n_slots; k++)
            if (b->slots[k].kind == OUT)
                return value_from(call->outs[0], b->slots[k].code);
    }
    PyObject *tuple = PyTuple_New(b->n_outs + valued);
    if (!tuple)
        return NULL;
    Py_ssize_t at = 0;
    PyObject *value;
    if (valued) {
        if (!(value = value_from(returned, b->result)) || PyTuple_SetItem(tuple, at++, value) < 0)
            goto failed;
    }
    for (int k = 0; k < b->n_slots; k++) {
        const Slot *s = &b->slots[k];
        if (s->kind != OUT)
            continue;
        if (!(value = value_from(call->outs[(int)s->out], s->code)) || PyTuple_SetItem(tuple, at++, value) < 0)
            goto failed;
    }
    return tuple;
failed:
    Py_DECREF(tuple);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ one call */

static int reorder(const Bound *b, PyObject *const *args, Py_ssize_t given, PyObject *keywords, PyObject **ordered)
{
    if (given > b->n_arguments) {
        PyErr_Format(PyExc_TypeError, "%U() takes %d arguments, got %zd", b->title, b->n_arguments, given);
        return -1;
    }
    memset(ordered, 0, sizeof(PyObject *) * (MAX_WORDS + MAX_FLOATS));
    memcpy(ordered, args, sizeof(PyObject *) * (size_t)given);
    Py_ssize_t n = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *keyword = PyTuple_GetItem(keywords, k);
        Py_ssize_t at = PySequence_Index(b->names, keyword);
        if (at < 0) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", b->title, keyword);
            return -1;
        }
        if (ordered[at]) {
            PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", b->title, keyword);
            return -1;
        }
        ordered[at] = args[given + k];
    }
    for (int k = 0; k < b->n_arguments; k++) {
        if (!ordered[k]) {
            PyErr_Format(PyExc_TypeError, "%U() missing argument '%U' (takes %R)", b->title,
                         PyTuple_GetItem(b->names, k), b->names);
            return -1;
        }
    }
    return 0;
}

static int convert(const Bound *b, PyObject *const *args, Call *call)
{
    Py_ssize_t argument = 0;
    if (b->plain) {
        for (int k = 0; k < b->n_slots; k++) {
            if (word_from(args[k], b->slots[k].code, &call->words[k]) < 0) {
                refuse(b, k, -1, b->slots[k].code, args[k]);
                return -1;
            }
        }
        return 0;
    }
    for (int k = 0; k < b->n_slots; k++) {
        const Slot *s = &b->slots[k];
        if (s->kind == OUT) {
            call->outs[(int)s->out] = 0;
            call->words[(int)s->at] = (word)(uintptr_t)&call->outs[(int)s->out];
            continue;
        }
        PyObject *o = args[argument];
        if (s->kind == ARRAY) {
            if (array_from(b, argument, o, s, call, &call->words[(int)s->at]) < 0)
                return -1;
        } else {
            double *at = &call->floats[(int)s->at];
            int failed = s->code == 'f' || s->code == 'd'   ? floating_from(o, s->code, at)
                         : s->code == 'F' || s->code == 'D' ? complex_from(o, s->code, at)
                                                            : word_from(o, s->code, &call->words[(int)s->at]);
            if (failed < 0) {
                refuse(b, argument, -1, s->code, o);
                return -1;
            }
        }
        argument++;
    }
    return 0;
}

static int take_address(Bound *b, PyObject *address)
{
    word at;
    if (unsigned_from(address, &at) < 0)
        return -1;
    if (!at) {
        PyErr_Format(PyExc_ValueError, "bind(): the address of %s is 0", b->name);
        return -1;
    }
    b->address = (void *)(uintptr_t)at;
    return 0;
}

/* 0: the address is known; 1: `other` is what takes the arguments this time; -1: an error. */
static COLD int open_bound(Bound *b, PyObject **other)
{
    *other = NULL;
    if (b->address)
        return 0;
    PyObject *found = PyObject_CallNoArgs(b->opener);
    if (!found)
        return -1;
    if (!PyLong_Check(found)) {
        *other = found;
        return 1;
    }
    int failed = take_address(b, found);
    Py_DECREF(found);
    return failed;
}

static COLD PyObject *call_other(PyObject *other, PyObject *const *args, Py_ssize_t n)
{
    PyObject *answer = NULL;
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t k = 0; tuple && k < n; k++)
        PyTuple_SetItem(tuple, k, Py_NewRef(args[k]));
    if (tuple)
        answer = PyObject_CallObject(other, tuple);
    Py_XDECREF(tuple);
    Py_DECREF(other);
    return answer;
}

static PyObject *invoke(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    Bound *b = PyModule_GetState(self);
    PyObject *ordered[MAX_WORDS + MAX_FLOATS];
    PyObject *answer = NULL;
    Call call;
    if (keywords || given != b->n_arguments) {
        if (reorder(b, args, given, keywords, ordered) < 0)
            return NULL;
        args = ordered;
    }
    if (!b->address) {
        PyObject *other;
        if (open_bound(b, &other))
            return other ? call_other(other, args, b->n_arguments) : NULL;
    }
    void *address = b->address; /* which may be forgotten while arguments are converted */
    if (b->n_passed > b->n_words)
        memset(call.words + b->n_words, 0, sizeof(word) * (size_t)(b->n_passed - b->n_words));
    if (b->n_floats)
        memset(call.floats, 0, sizeof call.floats);
    call.n_temporaries = 0;
    call.temporaries = NULL;
    if (convert(b, args, &call) == 0) {
        PyThreadState *state = PyEval_SaveThread();
        word returned = call_address(b, address, call.words, call.floats);
        PyEval_RestoreThread(state);
        if (b->result == '!' && (uint32_t)returned)
            raise_status(b, returned);
        else
            answer = results(b, returned, &call);
    }
    if (call.temporaries)
        release(&call);
    return answer;
}

/* ------------------------------------------------------------------------------------------------ repeat */

typedef struct {
    Py_ssize_t dimensions;
    int64_t extents[MAX_DIMENSIONS];
    int64_t index[MAX_DIMENSIONS];
    int64_t *steps; /* [word][dimension] */
    int n_moving;
    int moving[MAX_WORDS]; /* the words that have a step */
} Loop;

static int read_extents(PyObject *shape, Loop *loop)
{
    loop->dimensions = PyTuple_Size(shape);
    if (loop->dimensions < 0)
        return -1;
    if (loop->dimensions > MAX_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "repeat(): at most %d dimensions, got %zd", MAX_DIMENSIONS, loop->dimensions);
        return -1;
    }
    for (Py_ssize_t k = 0; k < loop->dimensions; k++) {
        if (signed_from(PyTuple_GetItem(shape, k), &loop->extents[k]) < 0)
            return -1;
        if (loop->extents[k] < 0) {
            PyErr_SetString(PyExc_ValueError, "repeat(): extents must not be negative");
            return -1;
        }
        loop->index[k] = 0;
    }
    return 0;
}

static int read_steps(const Bound *b, PyObject *steps, Loop *loop)
{
    loop->n_moving = 0;
    if (PyTuple_Size(steps) != b->n_arguments) {
        PyErr_Format(PyExc_ValueError, "repeat(): %U() needs steps for %d arguments, got %zd", b->title, b->n_arguments,
                     PyTuple_Size(steps));
        return -1;
    }
    for (int j = 0; j < b->n_arguments; j++) {
        const Slot *s = &b->slots[j]; /* without out-parameters, slots and arguments coincide */
        PyObject *row = PyTuple_GetItem(steps, j);
        if (!PyTuple_Check(row)) {
            PyErr_Format(PyExc_TypeError, "repeat(): steps must be tuples of int, got %R", row);
            return -1;
        }
        if (PyTuple_Size(row) != loop->dimensions) {
            PyErr_Format(PyExc_ValueError, "repeat(): steps of '%U' need %zd entries, got %zd",
                         PyTuple_GetItem(b->names, j), loop->dimensions, PyTuple_Size(row));
            return -1;
        }
        int moves = 0;
        for (Py_ssize_t k = 0; k < loop->dimensions; k++) {
            int64_t step;
            if (signed_from(PyTuple_GetItem(row, k), &step) < 0)
                return -1;
            if (step && !strchr("PNqQvw", s->code)) {
                PyErr_Format(PyExc_TypeError, "repeat(): only 64-bit arguments advance, '%U' of %U() is none",
                             PyTuple_GetItem(b->names, j), b->title);
                return -1;
            }
            if (step)
                loop->steps[s->at * loop->dimensions + k] = step;
            moves |= step != 0;
        }
        if (moves)
            loop->moving[loop->n_moving++] = s->at;
    }
    return 0;
}

/* Moves to the next index; 0 when the loop is over. */
static int advance(Loop *loop, word *words)
{
    for (Py_ssize_t k = loop->dimensions - 1; k >= 0; k--) {
        int more = ++loop->index[k] < loop->extents[k];
        word turns = more ? 1 : (word)1 - (word)loop->extents[k];
        for (int i = 0; i < loop->n_moving; i++) {
            int j = loop->moving[i];
            words[j] += turns * (word)loop->steps[j * loop->dimensions + k];
        }
        if (more)
            return 1;
        loop->index[k] = 0;
    }
    return 0;
}

static int run_loop(const Bound *b, Loop *loop, Call *call)
{
    for (Py_ssize_t k = 0; k < loop->dimensions; k++)
        if (!loop->extents[k])
            return 0;
    word status;
    void *address = b->address;
    PyThreadState *state = PyEval_SaveThread();
    do {
        status = call_address(b, address, call->words, call->floats);
    } while (!(b->result == '!' && (uint32_t)status) && advance(loop, call->words));
    PyEval_RestoreThread(state);
    if (b->result == '!' && (uint32_t)status) {
        raise_status(b, status);
        return -1;
    }
    return 0;
}

static struct PyModuleDef bound_definition;

static Bound *as_bound(PyObject *function)
{
    PyObject *self = PyCFunction_Check(function) ? PyCFunction_GetSelf(function) : NULL;
    return self && PyModule_Check(self) && PyModule_GetDef(self) == &bound_definition ? PyModule_GetState(self) : NULL;
}

static const Bound *bound_of(PyObject *function, const char *asked_by)
{
    PyObject *other = NULL;
    Bound *b = as_bound(function);
    if (b && open_bound(b, &other) == 0)
        return b;
    Py_XDECREF(other);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s() needs a function made by bind(), got %R", asked_by, function);
    return NULL;
}

static PyObject *opened(PyObject *module, PyObject *function)
{
    PyObject *other = NULL;
    Bound *b = as_bound(function);
    (void)module;
    if (b && open_bound(b, &other) < 0)
        return NULL;
    return other ? other : Py_NewRef(function);
}

static PyObject *forget_address(PyObject *module, PyObject *function)
{
    Bound *b = as_bound(function);
    (void)module;
    if (b && b->opener)
        b->address = NULL;
    Py_RETURN_NONE;
}

static int repeatable(const Bound *b, const char *asked_by)
{
    int plain = b->n_outs == 0 && (b->result == '!' || b->result == 'v');
    for (int k = 0; plain && k < b->n_slots; k++)
        plain = b->slots[k].code != 's' && (b->slots[k].kind != ARRAY || strchr("vw", b->slots[k].code));
    if (!plain)
        PyErr_Format(PyExc_TypeError, "%s(): %U() must take numbers and addresses only and return a status or nothing",
                     asked_by, b->title);
    return plain;
}

static PyObject *repeat(PyObject *module, PyObject *arguments)
{
    PyObject *function, *shape, *steps, *args;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:repeat", &function, &PyTuple_Type, &shape, &PyTuple_Type, &steps,
                          &PyTuple_Type, &args))
        return NULL;
    const Bound *b = bound_of(function, "repeat");
    if (!b || !repeatable(b, "repeat"))
        return NULL;
    if (PyTuple_Size(args) != b->n_arguments) {
        PyErr_Format(PyExc_TypeError, "%U() takes %d arguments, got %zd", b->title, b->n_arguments, PyTuple_Size(args));
        return NULL;
    }
    PyObject *ordered[MAX_WORDS + MAX_FLOATS];
    for (int k = 0; k < b->n_arguments; k++)
        ordered[k] = PyTuple_GetItem(args, k);
    Call call;
    Loop loop;
    memset(&call, 0, sizeof call);
    int failed = convert(b, ordered, &call) < 0 || read_extents(shape, &loop) < 0;
    if (!failed) {
        loop.steps = PyMem_Calloc((size_t)(b->n_words * loop.dimensions + 1), sizeof(int64_t));
        if (!loop.steps)
            PyErr_NoMemory();
        failed = !loop.steps || read_steps(b, steps, &loop) < 0 || run_loop(b, &loop, &call) < 0;
        PyMem_Free(loop.steps);
    }
    if (call.temporaries)
        release(&call);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------------ pointer */

static PyObject *pointer_from_interface(PyObject *o)
{
    PyObject *interface = PyObject_GetAttrString(o, "__array_interface__");
    if (!interface) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "pointer(): needs the buffer protocol or __array_interface__, got %R", o);
        return NULL;
    }
    PyObject *answer = NULL;
    PyObject *data = PyMapping_GetItemString(interface, "data");
    PyObject *address = data ? PySequence_GetItem(data, 0) : NULL;
    if (address)
        answer = PyNumber_Index(address);
    Py_XDECREF(address);
    Py_XDECREF(data);
    Py_DECREF(interface);
    return answer;
}

static PyObject *pointer(PyObject *module, PyObject *o)
{
    Py_buffer view;
    (void)module;
    if (PyObject_GetBuffer(o, &view, PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return pointer_from_interface(o);
    }
    PyObject *answer = PyLong_FromSize_t((size_t)view.buf);
    PyBuffer_Release(&view);
    return answer;
}

static int has_shape(const Py_buffer *view, PyObject *shape)
{
    if (PyTuple_Size(shape) != view->ndim)
        return 0;
    for (int i = 0; i < view->ndim; i++)
        if (PyLong_AsSsize_t(PyTuple_GetItem(shape, i)) != view->shape[i])
            return 0;
    return 1;
}

/* 1: the array lies where it was and has the shape that it had, 0: not so, -1: an error. */
static int is_unmoved(PyObject *o, PyObject *address, PyObject *shape)
{
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        PyObject *now = pointer_from_interface(o);
        int same = now ? PyObject_RichCompareBool(now, address, Py_EQ) : -1;
        Py_XDECREF(now);
        return same;
    }
    int same = PyLong_AsSize_t(address) == (size_t)view.buf && has_shape(&view, shape);
    PyBuffer_Release(&view);
    return PyErr_Occurred() ? -1 : same;
}

static PyObject *unmoved(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    (void)module;
    if (given != 3 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "unmoved() takes three tuples: arrays, addresses, shapes");
        return NULL;
    }
    Py_ssize_t n = PyTuple_Size(args[0]);
    int same = !n || (PyTuple_Size(args[1]) == n && PyTuple_Size(args[2]) == n);
    for (Py_ssize_t k = 0; same == 1 && k < n; k++) {
        PyObject *shape = PyTuple_GetItem(args[2], k);
        if (!PyTuple_Check(shape)) {
            PyErr_Format(PyExc_TypeError, "unmoved(): a shape must be a tuple, got %R", shape);
            return NULL;
        }
        same = is_unmoved(PyTuple_GetItem(args[0], k), PyTuple_GetItem(args[1], k), shape);
    }
    return same < 0 ? NULL : PyBool_FromLong(same);
}

/* ------------------------------------------------------------------------------------------------ binding */

static int add_slot(Bound *b, char kind, char code, char item)
{
    int complex_words = code == 'F' ? WORDS_OF_C64 : 2;
    int floating = kind != SCALAR ? 0 : code == 'f' || code == 'd' ? 1 : code == 'F' || code == 'D' ? complex_words : 0;
    if (floating ? b->n_floats + floating > MAX_FLOATS : b->n_words == MAX_WORDS) {
        PyErr_Format(PyExc_ValueError, "bind(): %U has more than %d words or %d floats", b->title, MAX_WORDS,
                     MAX_FLOATS);
        return -1;
    }
    Slot *s = &b->slots[b->n_slots++];
    s->kind = kind;
    s->code = code;
    s->at = (char)(floating ? b->n_floats : b->n_words++);
    b->n_floats += floating;
    s->item = item;
    s->out = 0;
    if (kind == OUT)
        s->out = (char)b->n_outs++;
    else
        b->n_arguments++;
    b->n_arrays += kind == ARRAY;
    return 0;
}

static int read_signature(Bound *b, const char *text)
{
    const char *start = text;
    for (; *text && *text != '>'; text++) {
        char memory = *text == '-' ? 'v' : *text == '+' ? 'w' : 0; /* of items of a type */
        char kind = *text == '*' || memory ? ARRAY : *text == '&' ? OUT : SCALAR;
        const char *codes = memory          ? "iIqQNfdFD"
                            : kind == ARRAY ? "iIqQNPbfdsvw"
                            : kind == OUT   ? "iIqQNPbfds"
                                            : "iIqQNPbfdsFD";
        if (kind != SCALAR)
            text++;
        if (!*text || !strchr(codes, *text))
            goto malformed;
        if (add_slot(b, kind, memory ? memory : *text, memory ? *text : 0) < 0)
            return -1;
    }
    if (text[0] != '>' || !text[1] || text[2] || !strchr("iIqQNPfdsv!", text[1]))
        goto malformed;
    b->result = text[1];
    b->n_passed = b->n_words <= 8 || (b->n_words <= 16 && b->result != 'f' && b->result != 'd') ? 16 : MAX_WORDS;
    b->plain = b->n_arrays == 0 && b->n_outs == 0 && b->n_floats == 0;
    if (PyTuple_Size(b->names) == b->n_arguments)
        return 0;
malformed:
    PyErr_Format(PyExc_ValueError, "bind(): signature '%s' of %U is malformed or does not fit %R", start, b->title,
                 b->names);
    return -1;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PyMem_Malloc(size);
    if (!copy)
        return (char *)PyErr_NoMemory();
    return memcpy(copy, text, size);
}

static PyObject *joined_names(PyObject *names)
{
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *joined = comma ? PyUnicode_Join(comma, names) : NULL;
    Py_XDECREF(comma);
    return joined;
}

/* The first lines of a builtin's text become its __text_signature__. */
static char *internal_doc(const char *name, PyObject *names, const char *doc)
{
    char *copy = NULL;
    PyObject *joined = joined_names(names);
    PyObject *text = joined ? PyUnicode_FromFormat("%s(%U)\n--\n\n%s", name, joined, doc) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (utf8)
        copy = copy_text(utf8);
    Py_XDECREF(text);
    Py_XDECREF(joined);
    return copy;
}

static PyObject *function_title(const char *name, PyObject *module)
{
    return module == Py_None ? PyUnicode_FromString(name) : PyUnicode_FromFormat("%U.%s", module, name);
}

static PyObject *bind(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *parameters[] = {"address", "name", "parameters", "signature", "on_error", "doc", "module", NULL};
    PyObject *address, *names, *on_error, *home = Py_None;
    const char *name, *signature, *doc;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OsO!sOs|O:bind", parameters, &address, &name, &PyTuple_Type,
                                     &names, &signature, &on_error, &doc, &home))
        return NULL;
    if (home != Py_None && !PyUnicode_Check(home)) {
        PyErr_SetString(PyExc_TypeError, "bind(): module must be a str or None");
        return NULL;
    }
    PyObject *self = PyModule_Create(&bound_definition);
    if (!self)
        return NULL;
    Bound *b = PyModule_GetState(self);
    PyObject *function = NULL;
    b->opener = PyCallable_Check(address) ? Py_NewRef(address) : NULL;
    b->names = Py_NewRef(names);
    b->on_error = on_error == Py_None ? NULL : Py_NewRef(on_error);
    b->title = function_title(name, home);
    if (b->title && (b->name = copy_text(name)) && (b->opener || take_address(b, address) == 0) &&
        read_signature(b, signature) == 0 && (b->doc = internal_doc(name, names, doc))) {
        b->method.ml_name = b->name;
        b->method.ml_meth = (PyCFunction)(void (*)(void))invoke;
        b->method.ml_flags = METH_FASTCALL | METH_KEYWORDS;
        b->method.ml_doc = b->doc;
        function = PyCFunction_NewEx(&b->method, self, home == Py_None ? NULL : home);
    }
    Py_DECREF(self);
    return function;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg)
{
    Bound *b = PyModule_GetState(self);
    Py_VISIT(b->opener);
    Py_VISIT(b->names);
    Py_VISIT(b->on_error);
    return 0;
}

static int bound_clear(PyObject *self)
{
    Py_CLEAR(((Bound *)PyModule_GetState(self))->on_error); /* the rest stays: a call may still come */
    return 0;
}

static void bound_free(void *self)
{
    Bound *b = PyModule_GetState(self);
    if (!b)
        return;
    Py_XDECREF(b->opener);
    Py_XDECREF(b->names);
    Py_XDECREF(b->on_error);
    Py_XDECREF(b->title);
    PyMem_Free(b->name);
    PyMem_Free(b->doc);
}

static struct PyModuleDef bound_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nvmath.bindings._seam_c.function",
    .m_size = sizeof(Bound),
    .m_traverse = bound_traverse,
    .m_clear = bound_clear,
    .m_free = bound_free,
};

/* ------------------------------------------------------------------------------------------------ prepare */

#define MAX_OPERANDS 4
#define MAX_RANK 4
#define MAX_GUARD 64

/* What of an array decides whether a prepared call suits it. */
typedef struct {
    PyObject *dtype; /* compared by identity */
    int rank;
    Py_ssize_t extents[MAX_RANK], strides[MAX_RANK];
} Look;

/* Arrays of one call, held while it runs. */
typedef struct {
    int n;
    Look looks[MAX_OPERANDS];
    Py_buffer views[MAX_OPERANDS];
} Seen;

typedef struct Table Table;

/* A call of a bound function whose arguments are all known but for the addresses of arrays that are alike. */
typedef struct {
    PyObject_HEAD
    PyObject *function; /* made by bind(); its Bound is what is called */
    PyObject *make, *kept;
    PyTypeObject *kind;
    const Bound *bound;
    void *address; /* kept when the function forgets it */
    Table *home; /* the table that knows it, if any */
    unsigned long answers; /* since answered() was called last */
    int n;
    int at[MAX_OPERANDS + 1]; /* which words take the addresses of the operands, and of the result */
    Look looks[MAX_OPERANDS];
    Py_ssize_t alignments[MAX_OPERANDS];
    Py_buffer guard; /* memory that must be as it was */
    char guarded[MAX_GUARD];
    word words[MAX_WORDS];
    double floats[MAX_FLOATS];
    PyMethodDef method;
} Prepared;

static PyTypeObject *prepared_type;
static PyObject *dtype_text;

static void forget(Seen *seen)
{
    for (int k = 0; k < seen->n; k++) {
        PyBuffer_Release(&seen->views[k]);
        Py_DECREF(seen->looks[k].dtype);
    }
    seen->n = 0;
}

/* 1: looked at; 0: not such arrays, without an error. */
static int look_at(PyTypeObject *kind, PyObject *const *args, Py_ssize_t n, Seen *seen)
{
    seen->n = 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        Look *look = &seen->looks[k];
        Py_buffer *view = &seen->views[k];
        if (Py_TYPE(args[k]) != kind)
            goto unlike;
        if (PyObject_GetBuffer(args[k], view, PyBUF_STRIDES) < 0)
            goto unlike;
        if (view->ndim > MAX_RANK || (view->ndim && !view->strides) ||
            !(look->dtype = PyObject_GetAttr(args[k], dtype_text))) {
            PyBuffer_Release(view);
            goto unlike;
        }
        look->rank = view->ndim;
        for (int i = 0; i < view->ndim; i++) {
            look->extents[i] = view->shape[i];
            look->strides[i] = view->strides[i];
        }
        seen->n++;
    }
    return 1;
unlike:
    PyErr_Clear();
    forget(seen);
    return 0;
}

static int alike(const Look *a, const Look *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return 0;
    for (int i = 0; i < a->rank; i++)
        if (a->extents[i] != b->extents[i] || a->strides[i] != b->strides[i])
            return 0;
    return 1;
}

static int suits(const Prepared *p, const Seen *seen)
{
    if (seen->n != p->n || memcmp(p->guarded, p->guard.buf, (size_t)p->guard.len))
        return 0;
    for (int k = 0; k < p->n; k++)
        if (!alike(&p->looks[k], &seen->looks[k]) || (uintptr_t)seen->views[k].buf % (uintptr_t)p->alignments[k])
            return 0;
    return 1;
}

static PyObject *run_prepared(Prepared *p, const Seen *seen)
{
    const Bound *b = p->bound;
    word words[MAX_WORDS];
    Py_buffer target;
    PyObject *result = PyObject_CallNoArgs(p->make);
    if (!result || PyObject_GetBuffer(result, &target, PyBUF_STRIDED) < 0) {
        Py_XDECREF(result);
        return NULL;
    }
    memcpy(words, p->words, sizeof(word) * (size_t)b->n_passed);
    for (int k = 0; k < p->n; k++)
        words[p->at[k]] = (word)(uintptr_t)seen->views[k].buf;
    words[p->at[p->n]] = (word)(uintptr_t)target.buf;
    PyThreadState *state = PyEval_SaveThread();
    word returned = call_address(b, p->address, words, p->floats);
    PyEval_RestoreThread(state);
    PyBuffer_Release(&target);
    if (b->result == '!' && (uint32_t)returned) {
        Py_DECREF(result);
        raise_status(b, returned);
        return NULL;
    }
    p->answers++;
    return result;
}

static PyObject *invoke_prepared(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    Prepared *p = (Prepared *)self;
    Seen seen;
    if (given != p->n) {
        PyErr_Format(PyExc_TypeError, "%U() is prepared for %d arrays, got %zd", p->bound->title, p->n, given);
        return NULL;
    }
    if (!look_at(p->kind, args, given, &seen))
        return Py_NewRef(Py_NotImplemented);
    PyObject *answer = suits(p, &seen) ? run_prepared(p, &seen) : Py_NewRef(Py_NotImplemented);
    forget(&seen);
    return answer;
}

static int take_constants(Prepared *p, PyObject *args)
{
    const Bound *b = p->bound;
    PyObject *ordered[MAX_WORDS + MAX_FLOATS];
    Call call;
    memset(&call, 0, sizeof call);
    for (int k = 0; k < b->n_arguments; k++)
        ordered[k] = PyTuple_GetItem(args, k);
    int failed = convert(b, ordered, &call) < 0;
    if (!failed && call.temporaries) {
        PyErr_Format(PyExc_TypeError, "prepare(): %U() must be given addresses as integers", b->title);
        failed = 1;
    }
    if (call.temporaries)
        release(&call);
    memcpy(p->words, call.words, sizeof call.words);
    memcpy(p->floats, call.floats, sizeof call.floats);
    return failed ? -1 : 0;
}

static int take_places(Prepared *p, PyObject *places)
{
    const Bound *b = p->bound;
    for (int k = 0; k <= p->n; k++) {
        int64_t at;
        if (signed_from(PyTuple_GetItem(places, k), &at) < 0)
            return -1;
        if (at < 0 || at >= b->n_arguments || !strchr("Pvw", b->slots[at].code)) {
            PyErr_Format(PyExc_ValueError, "prepare(): argument %zd of %U() takes no address", (Py_ssize_t)at,
                         b->title);
            return -1;
        }
        p->at[k] = b->slots[at].at;
    }
    return 0;
}

static int take_operands(Prepared *p, PyObject *like)
{
    PyObject *arrays[MAX_OPERANDS];
    Seen seen;
    for (int k = 0; k < p->n; k++)
        arrays[k] = PyTuple_GetItem(like, k);
    p->kind = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(arrays[0]));
    if (!look_at(p->kind, arrays, p->n, &seen)) {
        PyErr_Format(PyExc_TypeError,
                     "prepare(): needs arrays of one type with a dtype, the buffer protocol and at most %d dimensions, "
                     "got %R",
                     MAX_RANK, like);
        return -1;
    }
    for (int k = 0; k < p->n; k++) {
        p->looks[k] = seen.looks[k];
        Py_INCREF(p->looks[k].dtype);
        PyObject *alignment = PyObject_GetAttrString(p->looks[k].dtype, "alignment");
        p->alignments[k] = alignment ? PyLong_AsSsize_t(alignment) : -1;
        Py_XDECREF(alignment);
        if (p->alignments[k] < 1) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "prepare(): the alignment of a dtype is not positive");
            forget(&seen);
            return -1;
        }
    }
    forget(&seen);
    return 0;
}

static int take_guard(Prepared *p, PyObject *guard)
{
    if (PyObject_GetBuffer(guard, &p->guard, PyBUF_SIMPLE) < 0)
        return -1;
    if (p->guard.len > MAX_GUARD) {
        PyErr_Format(PyExc_ValueError, "prepare(): the guard may have %d bytes, not %zd", MAX_GUARD, p->guard.len);
        return -1;
    }
    memcpy(p->guarded, p->guard.buf, (size_t)p->guard.len);
    return 0;
}

static PyObject *prepare(PyObject *module, PyObject *arguments)
{
    PyObject *function, *args, *places, *like, *make, *guard, *kept = Py_None;
    const Bound *b;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!OO|O:prepare", &function, &PyTuple_Type, &args, &PyTuple_Type, &places,
                          &PyTuple_Type, &like, &make, &guard, &kept) ||
        !(b = bound_of(function, "prepare")) || !repeatable(b, "prepare"))
        return NULL;
    Py_ssize_t n = PyTuple_Size(like);
    if (n < 1 || n > MAX_OPERANDS || PyTuple_Size(places) != n + 1) {
        PyErr_Format(PyExc_ValueError, "prepare(): 1 to %d arrays, and one place more, got %zd and %zd", MAX_OPERANDS,
                     n, PyTuple_Size(places));
        return NULL;
    }
    if (PyTuple_Size(args) != b->n_arguments) {
        PyErr_Format(PyExc_TypeError, "%U() takes %d arguments, got %zd", b->title, b->n_arguments, PyTuple_Size(args));
        return NULL;
    }
    PyObject *self = PyType_GenericAlloc(prepared_type, 0);
    if (!self)
        return NULL;
    Prepared *p = (Prepared *)self;
    p->function = Py_NewRef(function);
    p->make = Py_NewRef(make);
    p->kept = Py_NewRef(kept);
    p->bound = b;
    p->address = b->address;
    p->n = (int)n;
    p->method.ml_name = b->name;
    p->method.ml_meth = (PyCFunction)(void (*)(void))invoke_prepared;
    p->method.ml_flags = METH_FASTCALL;
    PyObject *made = NULL;
    if (take_constants(p, args) == 0 && take_places(p, places) == 0 && take_operands(p, like) == 0 &&
        take_guard(p, guard) == 0)
        made = PyCFunction_NewEx(&p->method, self, NULL);
    Py_DECREF(self);
    return made;
}

/* ------------------------------------------------------------------------------------------------ table */

#define MAX_ENTRIES 256

/* Prepared calls, found by what their arrays look like. It does not keep them alive. */
struct Table {
    PyObject_HEAD
    PyTypeObject *kind;
    int n, oldest;
    word hashes[MAX_ENTRIES];
    Prepared *entries[MAX_ENTRIES];
    PyMethodDef method;
};

static PyTypeObject *table_type;

static inline word mixed(word hash, word value)
{
    hash ^= value;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static word hash_of(const Look *looks, int n)
{
    word hash = (word)n;
    for (int k = 0; k < n; k++) {
        hash = mixed(hash, (word)(uintptr_t)looks[k].dtype + (word)looks[k].rank);
        for (int i = 0; i < looks[k].rank; i++) {
            hash = mixed(hash, (word)looks[k].extents[i]);
            hash = mixed(hash, (word)looks[k].strides[i]);
        }
    }
    return hash;
}

static PyObject *invoke_table(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    Table *t = (Table *)self;
    Seen seen;
    if (given > MAX_OPERANDS || !look_at(t->kind, args, given, &seen))
        return Py_NewRef(Py_NotImplemented);
    word hash = hash_of(seen.looks, seen.n);
    PyObject *answer = NULL;
    for (int k = 0; k < t->n; k++) {
        Prepared *p = t->entries[k];
        if (t->hashes[k] != hash || !p || p->kind != t->kind || !suits(p, &seen))
            continue;
        Py_INCREF((PyObject *)p); /* another thread may drop it while the call runs */
        answer = run_prepared(p, &seen);
        forget(&seen);
        Py_DECREF((PyObject *)p);
        return answer;
    }
    forget(&seen);
    return Py_NewRef(Py_NotImplemented);
}

static PyObject *table(PyObject *module, PyObject *kind)
{
    (void)module;
    if (!PyType_Check(kind)) {
        PyErr_Format(PyExc_TypeError, "table(): needs the type of the arrays, got %R", kind);
        return NULL;
    }
    PyObject *self = PyType_GenericAlloc(table_type, 0);
    if (!self)
        return NULL;
    Table *t = (Table *)self;
    t->kind = (PyTypeObject *)Py_NewRef(kind);
    t->method.ml_name = "table";
    t->method.ml_meth = (PyCFunction)(void (*)(void))invoke_table;
    t->method.ml_flags = METH_FASTCALL;
    PyObject *made = PyCFunction_NewEx(&t->method, self, NULL);
    Py_DECREF(self);
    return made;
}

static void leave_table(Prepared *p)
{
    Table *t = p->home;
    for (int k = 0; t && k < t->n; k++)
        if (t->entries[k] == p)
            t->entries[k] = NULL;
    p->home = NULL;
}

static PyObject *enter(PyObject *module, PyObject *arguments)
{
    PyObject *table_function, *prepared_function;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO:enter", &table_function, &prepared_function))
        return NULL;
    PyObject *home = PyCFunction_Check(table_function) ? PyCFunction_GetSelf(table_function) : NULL;
    PyObject *self = PyCFunction_Check(prepared_function) ? PyCFunction_GetSelf(prepared_function) : NULL;
    if (!home || Py_TYPE(home) != table_type || !self || Py_TYPE(self) != prepared_type) {
        PyErr_Format(PyExc_TypeError, "enter(): needs a table and a prepared call, got %R and %R", table_function,
                     prepared_function);
        return NULL;
    }
    Table *t = (Table *)home;
    Prepared *p = (Prepared *)self;
    leave_table(p);
    int at = 0;
    while (at < t->n && t->entries[at])
        at++;
    if (at == MAX_ENTRIES) { /* full: the oldest place goes to the new one */
        at = t->oldest;
        t->oldest = (t->oldest + 1) % MAX_ENTRIES;
        t->entries[at]->home = NULL;
    }
    t->entries[at] = p;
    t->hashes[at] = hash_of(p->looks, p->n);
    t->n = at < t->n ? t->n : at + 1;
    p->home = t;
    Py_RETURN_NONE;
}

static PyObject *answered(PyObject *module, PyObject *function)
{
    PyObject *self = PyCFunction_Check(function) ? PyCFunction_GetSelf(function) : NULL;
    (void)module;
    if (!self || Py_TYPE(self) != prepared_type) {
        PyErr_Format(PyExc_TypeError, "answered(): needs a prepared call, got %R", function);
        return NULL;
    }
    Prepared *p = (Prepared *)self;
    unsigned long answers = p->answers;
    p->answers = 0;
    return PyLong_FromUnsignedLong(answers);
}

static void table_dealloc(PyObject *self)
{
    Table *t = (Table *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int k = 0; k < t->n; k++)
        if (t->entries[k])
            t->entries[k]->home = NULL;
    Py_XDECREF((PyObject *)t->kind);
    PyObject_Free(self);
    Py_DECREF(type);
}

static void prepared_dealloc(PyObject *self)
{
    Prepared *p = (Prepared *)self;
    PyTypeObject *type = Py_TYPE(self);
    leave_table(p);
    PyBuffer_Release(&p->guard);
    for (int k = 0; k < p->n; k++)
        Py_XDECREF(p->looks[k].dtype);
    Py_XDECREF((PyObject *)p->kind);
    Py_XDECREF(p->make);
    Py_XDECREF(p->kept);
    Py_XDECREF(p->function);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot prepared_slots[] = {{Py_tp_dealloc, prepared_dealloc}, {0, NULL}};
static PyType_Slot table_slots[] = {{Py_tp_dealloc, table_dealloc}, {0, NULL}};

static PyType_Spec prepared_spec = {
    .name = "nvmath.bindings._seam_c.Prepared",
    .basicsize = sizeof(Prepared),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = prepared_slots,
};

static PyType_Spec table_spec = {
    .name = "nvmath.bindings._seam_c.Table",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = table_slots,
};

static PyMethodDef methods[] = {
    {"bind", (PyCFunction)(void (*)(void))bind, METH_VARARGS | METH_KEYWORDS,
     "bind(address, name, parameters, signature, on_error, doc, module=None)\n--\n\n"
     "Makes a function that calls the C function at an address."},
    {"opened", opened, METH_O,
     "opened(function, /)\n--\n\nThe function, its address found; or what takes its place now."},
    {"forget", forget_address, METH_O, "forget(function, /)\n--\n\nMakes a function ask for its address again."},
    {"pointer", pointer, METH_O, "pointer(obj, /)\n--\n\nThe address of an object's data."},
    {"unmoved", (PyCFunction)(void (*)(void))unmoved, METH_FASTCALL,
     "unmoved(arrays, addresses, shapes, /)\n--\n\nWhether arrays lie where they did, with the shapes that they had."},
    {"repeat", repeat, METH_VARARGS,
     "repeat(function, shape, steps, args, /)\n--\n\nCalls a bound function over a loop, with advancing arguments."},
    {"prepare", prepare, METH_VARARGS,
     "prepare(function, args, places, like, make, guard, kept=None, /)\n--\n\n"
     "A call of a bound function whose arguments are known but for the addresses of arrays."},
    {"table", table, METH_O, "table(kind, /)\n--\n\nPrepared calls, found by what their arrays look like."},
    {"enter", enter, METH_VARARGS, "enter(table, prepared, /)\n--\n\nPuts a prepared call into a table."},
    {"answered", answered, METH_O,
     "answered(prepared, /)\n--\n\nHow many calls it made since this was asked last."},
    {NULL, NULL, 0, NULL}};

static PyTypeObject *made_type(PyTypeObject *known, PyType_Spec *spec)
{
    return known ? known : (PyTypeObject *)PyType_FromSpec(spec);
}

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nvmath.bindings._seam_c",
    .m_doc = "The foreign-call seam, compiled.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__seam_c(void)
{
    if (!(prepared_type = made_type(prepared_type, &prepared_spec)) ||
        !(table_type = made_type(table_type, &table_spec)))
        return NULL;
    if (!dtype_text && !(dtype_text = PyUnicode_InternFromString("dtype")))
        return NULL;
    return PyModule_Create(&definition);
}

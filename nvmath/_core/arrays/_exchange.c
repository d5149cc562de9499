/* A look at an array through the C interface of DLPack (1.3, `__dlpack_c_exchange_api__`), for `Adapter.look`.
 *
 * Seven attributes of a tensor cost 0.7 us in Python; here one C call of the array package fills in all of them.
 * Whatever is not a plain dense array in memory is left to the function in Python, which also says what is wrong with it.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_RANK 32
#define COMPLEX 5 /* of DLDataTypeCode */

/* The part of dlpack.h that is used. */
typedef struct {
    void *data;
    int32_t device_type, device_id, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} Tensor;

typedef struct {
    uint32_t major, minor;
    void *previous;
    void *allocate, *export, *import;
    int (*describe)(void *object, Tensor *out);
    void *current_stream;
} Exchange;

/* What a plan depends on, as one run of bytes: equal looks have equal bytes. */
typedef struct {
    int32_t device_type, device_id, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t layout[2 * MAX_RANK];
} Record;

typedef struct {
    PyObject_HEAD
    PyObject *arguments; /* of looker(): what follows is borrowed from them */
    PyObject *kind;
    const Exchange *exchange;
    PyObject *otherwise;
    /* An array needs more than a look where one of these is true: methods of the class, an attribute while a function is true as well, */
    PyObject *is_neg, *is_conj, *attribute, *follows;
    PyObject *levels, *level; /* or where a number is not negative, which has a name in a dictionary. */
    PyMethodDef method;
} Looker;

static PyTypeObject *looker_type;

static int is_true(PyObject *answer)
{
    int truth = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return truth;
}

static int level_is_open(const Looker *l)
{
    PyObject *level = PyDict_GetItemWithError(l->levels, l->level);
    return level && PyLong_Check(level) ? PyLong_AsLong(level) >= 0 : 1;
}

/* Whether an attribute says that somebody follows what is done with an array, and he does so at present. */
static int is_followed(const Looker *l, PyObject *o)
{
    int truth = is_true(PyObject_GetAttr(o, l->attribute));
    return truth > 0 ? is_true(PyObject_CallNoArgs(l->follows)) : truth;
}

static int describes(const Looker *l, PyObject *o, Tensor *t)
{
    memset(t, 0, sizeof *t);
    return l->exchange->describe(o, t) >= 0 && t->data && t->rank >= 0 && t->rank <= MAX_RANK && (!t->rank || t->strides);
}

/* 1: a plain array in memory, described; 0: anything else, perhaps with an error set. What may run Python comes before the description,
   which only borrows: Python may change the array. */
static int describe(const Looker *l, PyObject *o, Tensor *t)
{
    if ((PyObject *)Py_TYPE(o) != l->kind || level_is_open(l) || is_followed(l, o) != 0 ||
        is_true(PyObject_CallFunctionObjArgs(l->is_neg, o, NULL)) != 0 || !describes(l, o, t))
        return 0;
    if (t->code != COMPLEX)
        return 1;
    return is_true(PyObject_CallFunctionObjArgs(l->is_conj, o, NULL)) == 0 && describes(l, o, t);
}

static PyObject *look(PyObject *self, PyObject *o)
{
    const Looker *l = (const Looker *)self;
    Tensor t;
    Record record;
    if (!describe(l, o, &t)) {
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) /* an interrupt, and no refusal */
            return NULL;
        PyErr_Clear();
        return PyObject_CallFunctionObjArgs(l->otherwise, o, NULL);
    }
    record.device_type = t.device_type;
    record.device_id = t.device_id;
    record.rank = t.rank;
    record.code = t.code;
    record.bits = t.bits;
    record.lanes = t.lanes;
    size_t row = sizeof(int64_t) * (size_t)t.rank;
    if (row) {
        memcpy(record.layout, t.shape, row);
        memcpy(record.layout + t.rank, t.strides, row);
    }
    unsigned long long address = (unsigned long long)((uintptr_t)t.data + t.byte_offset);
    return Py_BuildValue("(Ky#)", address, (const char *)&record, (Py_ssize_t)(offsetof(Record, layout) + 2 * row));
}

static PyObject *looker(PyObject *module, PyObject *arguments)
{
    Looker given, *l = PyObject_New(Looker, looker_type);
    PyObject *capsule, *function = NULL;
    (void)module;
    if (!l)
        return NULL;
    l->arguments = Py_NewRef(arguments);
    if (!PyArg_ParseTuple(arguments, "O!OOOOUOO!U:looker", &PyType_Type, &given.kind, &capsule, &given.otherwise,
                          &given.is_neg, &given.is_conj, &given.attribute, &given.follows, &PyDict_Type, &given.levels, &given.level) ||
        !(given.exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api")))
        goto done;
    if (given.exchange->major != 1 || !given.exchange->describe) {
        PyErr_Format(PyExc_ValueError, "looker(): DLPack %d is not known here", (int)given.exchange->major);
        goto done;
    }
    given.method = (PyMethodDef){"look", look, METH_O,
                                 "look(obj, /)\n--\n\nThe address of an array, and all that a plan depends on."};
    memcpy(&l->kind, &given.kind, sizeof given - offsetof(Looker, kind));
    function = PyCFunction_New(&l->method, (PyObject *)l);
done:
    Py_DECREF((PyObject *)l);
    return function;
}

static void looker_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((Looker *)self)->arguments);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot looker_slots[] = {{Py_tp_dealloc, looker_dealloc}, {0, NULL}};

static PyType_Spec looker_spec = {
    .name = "nvmath._core.arrays._exchange_c.Looker",
    .basicsize = sizeof(Looker),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = looker_slots,
};

static PyMethodDef methods[] = {
    {"looker", looker, METH_VARARGS,
     "looker(kind, capsule, otherwise, is_neg, is_conj, attribute, follows, levels, level, /)\n--\n\nMakes a fast `look` for the arrays of one class."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nvmath._core.arrays._exchange_c",
    .m_doc = "A look at arrays through the C interface of DLPack.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__exchange_c(void)
{
    if (!looker_type && !(looker_type = (PyTypeObject *)PyType_FromSpec(&looker_spec)))
        return NULL;
    return PyModule_Create(&definition);
}

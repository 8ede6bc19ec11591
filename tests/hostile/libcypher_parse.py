"""Reads JSON strings (Cypher), one a line; answers each with what libcypher-parser makes of it.

Run as a process of its own: the library aborts and overflows its stack on some inputs. `cypher_fparse` over a stream,
because the buffer entry point reads wrong text above 1 KiB.

    python libcypher_parse.py PATH_OF_THE_SO < queries.jsonl > {"errors": [message], "statements": n, "clauses": [type]}
"""

import json
import sys

from cffi import FFI

DECLARATIONS = """
    typedef struct cypher_parse_result cypher_parse_result_t;
    typedef struct cypher_astnode cypher_astnode_t;
    typedef struct cypher_parse_error cypher_parse_error_t;
    void *fmemopen(void *buffer, size_t size, const char *mode);
    int fclose(void *stream);
    cypher_parse_result_t *cypher_fparse(void *stream, void *last, void *config, uint_fast32_t flags);
    unsigned int cypher_parse_result_nerrors(const cypher_parse_result_t *result);
    const cypher_parse_error_t *cypher_parse_result_get_error(const cypher_parse_result_t *result, unsigned int index);
    const char *cypher_parse_error_message(const cypher_parse_error_t *error);
    unsigned int cypher_parse_result_nroots(const cypher_parse_result_t *result);
    const cypher_astnode_t *cypher_parse_result_get_root(const cypher_parse_result_t *result, unsigned int index);
    void cypher_parse_result_free(cypher_parse_result_t *result);
    uint8_t cypher_astnode_type(const cypher_astnode_t *node);
    const char *cypher_astnode_typestr(uint8_t type);
    unsigned int cypher_astnode_nchildren(const cypher_astnode_t *node);
    const cypher_astnode_t *cypher_astnode_get_child(const cypher_astnode_t *node, unsigned int index);
"""


def main() -> None:
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    library = ffi.dlopen(sys.argv[1])
    process = ffi.dlopen(None)

    def kinds(node: object) -> set[str]:
        found = {ffi.string(library.cypher_astnode_typestr(library.cypher_astnode_type(node))).decode()}
        for index in range(library.cypher_astnode_nchildren(node)):
            found |= kinds(library.cypher_astnode_get_child(node, index))
        return found

    for line in sys.stdin:
        text = json.loads(line).encode()
        buffer = ffi.new("char[]", text)
        stream = process.fmemopen(buffer, len(text), b"r")
        result = library.cypher_fparse(stream, ffi.NULL, ffi.NULL, 0)
        errors = [
            ffi.string(
                library.cypher_parse_error_message(library.cypher_parse_result_get_error(result, index))
            ).decode()
            for index in range(library.cypher_parse_result_nerrors(result))
        ]
        roots = [
            library.cypher_parse_result_get_root(result, index)
            for index in range(library.cypher_parse_result_nroots(result))
        ]
        clauses = sorted(set().union(*(kinds(root) for root in roots)))
        print(json.dumps({"errors": errors, "statements": len(roots), "clauses": clauses}), flush=True)
        library.cypher_parse_result_free(result)
        process.fclose(stream)


if __name__ == "__main__":
    main()

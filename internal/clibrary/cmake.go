package clibrary

import "strings"

// cmakeConfig is what find_package(PrivateMail) of CMake reads. Paths begin at the place of the file itself:
// the folder may be moved.
const cmakeConfig = `# find_package(PrivateMail): the targets PrivateMail::PrivateMail, the shared library, and
# PrivateMail::static, the archive, as far as they are there.
get_filename_component(_privatemail "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${_privatemail}/lib/@SONAME@" AND NOT TARGET PrivateMail::PrivateMail)
  add_library(PrivateMail::PrivateMail SHARED IMPORTED)
  set_target_properties(PrivateMail::PrivateMail PROPERTIES
    IMPORTED_LOCATION "${_privatemail}/lib/@SONAME@"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_privatemail}/include")
endif()
if(EXISTS "${_privatemail}/lib/libprivatemail.a" AND NOT TARGET PrivateMail::static)
  add_library(PrivateMail::static STATIC IMPORTED)
  set_target_properties(PrivateMail::static PROPERTIES
    IMPORTED_LOCATION "${_privatemail}/lib/libprivatemail.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_privatemail}/include"
    INTERFACE_LINK_LIBRARIES "-pthread")
endif()
unset(_privatemail)
`

// cmakeVersion says which versions a program may ask for: this one and earlier ones of the same major
// version, and while that is 0, of the same minor version.
const cmakeVersion = `set(PACKAGE_VERSION "@VERSION@")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _privatemail_own "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _privatemail_asked "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR NOT _privatemail_own STREQUAL _privatemail_asked)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
unset(_privatemail_own)
unset(_privatemail_asked)
`

// cmake fills in the names of a text of this file.
func (h *header) cmake(text string) string {
	return strings.NewReplacer("@SONAME@", h.soname(), "@VERSION@", h.version).Replace(text)
}

# Helpers that keep the folders' CMakeLists.txt to a few lines.

# farblock_library(NAME folder DEPS lib... LINK external...)
# A static library of every .c in the current folder. Headers are reached as
# "folder/x.h", and only by libraries that name this one in DEPS: each library
# has a separate include root that contains only a link to its folder.
function(farblock_library name)
  cmake_parse_arguments(A "" "" "DEPS;LINK" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS *.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${root})
    target_link_libraries(${name} PUBLIC ${A_DEPS} ${A_LINK})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${root})
    target_link_libraries(${name} INTERFACE ${A_DEPS} ${A_LINK})
  endif()
endfunction()

# farblock_program(NAME DEPS lib...): main.c of the current folder. The daemon is the
# administrator's, the others are everybody's.
function(farblock_program name)
  cmake_parse_arguments(A "" "" "DEPS" ${ARGN})
  add_executable(${name} main.c)
  target_link_libraries(${name} PRIVATE ${A_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(name MATCHES "d$")
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
  else()
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
